import Cryptography
import Testing

@testable import Passwords

/// Hashes made here: round trips, peppers, and when a password is hashed again.
@Suite struct PasswordHasherTests {
    private let hasher = PasswordHasher(parameters: cheap)

    @Test func `a hash verifies its password only, and is another one each time`() throws {
        let passwords = ["correct horse", "Correct horse", "correct horse ", "x", "päss", "👍🏽"]
        for text in passwords {
            let hash = try hasher.hash(prepared(text))
            #expect(try hash.text != hasher.hash(prepared(text)).text)
            let stored = try PasswordHash(hash.text)
            for other in passwords {
                #expect(try hasher.verify(Password(other), against: stored) == (other == text))
            }
            #expect(!hasher.needsRehash(stored))
        }
    }

    @Test func `canonically equivalent passwords are the same password`() throws {
        let hash = try hasher.hash(prepared("Ame\u{301}lie\u{A0}\u{1112}\u{1161}\u{11AB}"))
        #expect(try hasher.verify(Password("Am\u{E9}lie \u{D55C}"), against: hash))
        #expect(try !hasher.verify(Password("Amelie \u{D55C}"), against: hash))
        #expect(try !hasher.verify(Password("Am\u{E9}lie\u{7}"), against: hash))
    }

    @Test func `the default is 19 MiB and two passes`() throws {
        let hash = try PasswordHasher().hash(prepared("password"))
        #expect(hash.text.hasPrefix("$argon2id$v=19$m=19456,t=2,p=1$"))
        #expect(try PasswordHasher().verify(Password("password"), against: hash))
    }

    @Test func `no changed character of a hash verifies`() throws {
        let hash = try hasher.hash(prepared("password")).text
        for index in hash.indices {
            for replacement in ["A", "B", "0", "$"] where replacement != String(hash[index]) {
                var changed = hash
                changed.replaceSubrange(index...index, with: replacement)
                guard let parsed = try? PasswordHash(changed) else { continue }
                #expect(try !hasher.verify(Password("password"), against: parsed), "\(changed)")
            }
        }
    }

    @Test func `a hash with a pepper needs the key that it names`() throws {
        let keys = ["p-1": SymmetricKey.generate(), "p_2": SymmetricKey.generate()]
        let first = PasswordHasher(
            parameters: cheap, peppers: try #require(PasswordPeppers(keys: keys, current: "p-1")))
        let second = PasswordHasher(
            parameters: cheap, peppers: try #require(PasswordPeppers(keys: keys, current: "p_2")))
        let hash = try PasswordHash(first.hash(prepared("password")).text)
        #expect(hash.text.contains(",p=1,keyid=p-1$"))
        #expect(try second.verify(Password("password"), against: hash))
        #expect(try !second.verify(Password("passwort"), against: hash))
        #expect(!first.needsRehash(hash) && second.needsRehash(hash) && hasher.needsRehash(hash))
        #expect(throws: HashingFault.unknownPepper("p-1")) {
            try hasher.verify(Password("password"), against: hash)
        }
        // Under another key, and without one, it is another digest.
        for id in [",keyid=p_2", ""] {
            let other = try PasswordHash(hash.text.replacing(",keyid=p-1", with: id))
            #expect(try !first.verify(Password("password"), against: other))
        }
        #expect(PasswordPeppers(keys: keys, current: "p-3") == nil)
        #expect(PasswordPeppers(keys: ["a b": .generate()], current: nil) == nil)
    }

    /// The text is that of a second implementation of RFC 9106, written for this test in Python.
    @Test func `a pepper is the secret value of RFC 9106`() throws {
        let key = try #require(SymmetricKey(bytes: Array(0...31)))
        let other = try #require(SymmetricKey(bytes: Array(1...32)))
        let hash = try PasswordHash(
            "$argon2id$v=19$m=64,t=2,p=1,keyid=k$c29tZXNhbHRzb21lc2FsdA"
                + "$7JKgLww3WHHu+Fw8vxaPkLF6FzOif2w+cKAeBPD6cm8")
        #expect(hash.pepperID == "k")
        for (pepper, isRight) in [(key, true), (other, false)] {
            let peppers = try #require(PasswordPeppers(keys: ["k": pepper], current: nil))
            let hasher = PasswordHasher(parameters: cheap, peppers: peppers)
            #expect(try hasher.verify(Password("password"), against: hash) == isRight)
            #expect(try !hasher.verify(Password("passwort"), against: hash))
        }
    }

    @Test func `a hasher gets other peppers with the same parameters`() throws {
        let keys = ["p-1": SymmetricKey.generate()]
        let peppers = try #require(PasswordPeppers(keys: keys, current: "p-1"))
        let peppered = hasher.with(peppers)
        #expect(peppered.peppers == peppers && peppers != PasswordPeppers.none)
        #expect(peppers != PasswordPeppers(keys: keys, current: nil))
        let hash = try peppered.hash(prepared("password"))
        #expect(hash.text.hasPrefix("$argon2id$v=19$m=8,t=1,p=1,keyid=p-1$"))
        #expect(hash.pepperID == "p-1")
        #expect(peppered.decoy().pepperID == "p-1", "the same cost for unknown addresses")
        #expect(try hasher.hash(prepared("password")).pepperID == nil)
    }

    @Test func `other parameters or another scheme need a new hash`() throws {
        let hash = try hasher.hash(prepared("password"))
        for (memory, iterations, lanes) in [(16, 1, 1), (8, 2, 1), (16, 1, 2)] {
            let other = try Argon2Parameters(
                memoryKiB: memory, iterations: iterations, lanes: lanes)
            #expect(PasswordHasher(parameters: other).needsRehash(hash))
        }
        #expect(try hasher.needsRehash(PasswordHash(ImportedHashTests.strongBcrypt)))
        let short = "$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAA"
        #expect(try hasher.needsRehash(PasswordHash(short)))
    }

    @Test func `nothing matches a decoy`() throws {
        let decoy = hasher.decoy()
        #expect(!hasher.needsRehash(decoy))
        #expect(try !hasher.verify(Password("password"), against: PasswordHash(decoy.text)))
    }
}
