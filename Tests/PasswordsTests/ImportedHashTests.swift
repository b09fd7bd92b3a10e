import Cryptography
import Testing

@testable import Passwords

/// Hashes of other systems, as published or as other programs make them.
@Suite struct ImportedHashTests {
    struct Published: Sendable, CustomTestStringConvertible {
        let source: String
        let password: String
        let hash: String

        var testDescription: String { source }
    }

    static let strongBcrypt = "$2b$10$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui"

    static let ofSentBytes =
        "$pbkdf2-sha512$i=1000$c2FsdHNhbHQ$"
        + "U+Hw6hR5fUOggOZXeUqcx1ZyDawp4XZ+vQmCeY69lvaIFF+jWV6sYGwI7btLgT61dj56ZetYlXipgI0lfGy/RA"

    /// Cheap ones, which adoption wraps.
    static let weak = [
        Published(
            source: "crypt_blowfish, 3 bytes", password: "U*U",
            hash: "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
        Published(
            source: "crypt_blowfish, 5 bytes", password: "U*U*U",
            hash: "$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a"),
        Published(
            source: "SHA-crypt specification", password: "Hello world!",
            hash: "$6$rounds=10000$saltstringsaltst$"
                + "OW1/O6BYHV6BcXZu8QVeXbDWra3Oeqh0sbHbbMCVNSnCM/UrjmM0Dp8vOuZeHBy/YTBmSK6H9qs/y3RnOaw5v."
        ),
        Published(
            source: "openssl passwd -6", password: "pw",
            hash: "$6$abc$"
                + "MtSdWSZbhct2oe.SOqOUM2M/GA/uj5.vyVtJgRHgKi9uqXuWuJqOYE7H/YlsYGVg/YYzDV0xt3fEIwYt580.5."
        ),
        Published(
            source: "openssl passwd -1", password: "pw", hash: "$1$abc$Kb85XxsXB.VXinPhbS4431"),
        Published(
            source: "libxcrypt", password: "pleaseletmein",
            hash: "$y$j75$F5Jx5fExrKuPp53xLKQ..1$F2mAhV/kVB6sEnbh3hwcFwK6XqBq4/YWx1I6yqRZx/A"),
        Published(
            source: "passlib, pbkdf2_sha256", password: "password",
            hash: "$pbkdf2-sha256$1000$c2FsdHNhbHRzYWx0c2FsdA$"
                + "8nX7hwFEzIB8aPajJTYK8weHQc5Ngz0pFVAKvSu4jQA"),
        Published(
            source: "passlib, pbkdf2_sha512", password: "password",
            hash: "$pbkdf2-sha512$1000$c2FsdHNhbHRzYWx0c2FsdA$"
                + "715rqIr5dXOVPpBhqqsugl037zT5bWJTWYmZtIcK8hBnisKpwfY7kokvwjDrNHqHhF50Pb7MD6HvkJwiDQw4ww"
        ),
        Published(
            source: "passlib, pbkdf2_sha1", password: "password",
            hash: "$pbkdf2$1000$c2FsdHNhbHRzYWx0c2FsdA$2FWw/oC7TQkskizC.81lWlmFAMM"),
        Published(
            source: "passlib, django_pbkdf2_sha256", password: "password",
            hash: "pbkdf2_sha256$10000$s1w0UXDd00XB$+4ORmyvVWAQvoAEWlDgN34vlaJx1ZTZpa1pCSRey2Yk="),
        Published(
            source: "passlib, django_pbkdf2_sha1", password: "password",
            hash: "pbkdf2_sha1$1000$saltsalt$6f6/9Uv85mj94wGsyFVjzJ3HHvY="),
        Published(
            source: "Python, PBKDF2 of 48 bytes", password: "päss wörd",
            hash: "$pbkdf2-sha256$i=1000,l=48$c2FsdHNhbHQ$"
                + "IoWXE+Gh/0e0rYPyThtASpE/QrJbRYX676YT6JSBJ2URAiPDSGpyyzdSAIr89uXP"),
        Published(
            source: "Python, PBKDF2", password: "päss wörd",
            hash: ofSentBytes),
        Published(
            source: "passlib, scrypt", password: "password",
            hash: "$scrypt$ln=4,r=8,p=1$c2FsdHNhbHRzYWx0c2FsdA$"
                + "5f/Vi+XRWGUNGScbsma6KJ4zLFIke/NJsrvr7lQLAyA"),
        Published(
            source: "argon2 program", password: "password",
            hash: "$argon2id$v=19$m=64,t=2,p=1$c29tZXNhbHQ$"
                + "FqGkmHNGCd0BRW2kBt6fPZ2pPmyGwwChL8FGUhTOSSI"),
    ]

    /// Strong ones, which adoption keeps.
    static let strong = [
        Published(
            source: "yescrypt's scrypt, with N, r and p of RFC 7914", password: "pleaseletmein",
            hash: "$7$C6..../....SodiumChloride$kBGj9fHznVYFQMEn/qDCfrDevf9YDtcDdKvEqHJLV8D"),
        Published(
            source: "Firebase's own example", password: "user1password",
            hash: "$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk="
                + "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA=="
                + "$42xEC+ixf3L2lw==$"
                + "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=="
        ),
        Published(
            source: "libxcrypt, the defaults of Debian", password: "pleaseletmein",
            hash: "$y$j9T$F5Jx5fExrKuPp53xLKQ..1$dcdi.Kj3Y1NH3BK2uZ3cZVoROm5iiTxn1keRYFNoCOA"),
    ]

    private let hasher = PasswordHasher(parameters: cheap)

    @Test(arguments: weak + strong)
    func `a published hash verifies its password only`(published: Published) throws {
        let hash = try PasswordHash(published.hash)
        if case .own = hash.form {
        } else {
            #expect(try hasher.verify(Password(published.password), against: hash))
        }
        for wrong in [published.password + "x", String(published.password.dropLast()), "U*V"] {
            #expect(try !hasher.verify(Password(wrong), against: hash))
        }
        #expect(hasher.needsRehash(hash))
    }

    @Test(arguments: weak)
    func `a weak hash is wrapped, which hides its digest`(published: Published) throws {
        let adopted = try PasswordHash(hasher.adopt(published.hash).text)
        guard case .wrapped(_, _, let inner, _) = adopted.form else {
            Issue.record("\(adopted.text) is not wrapped")
            return
        }
        let digest = published.hash.dropFirst(inner.text.count)
        #expect(digest.utf8.count >= 22 && !adopted.text.contains(digest))
        #expect(try hasher.verify(Password(published.password), against: adopted))
        #expect(try !hasher.verify(Password(published.password + "x"), against: adopted))
        #expect(hasher.needsRehash(adopted))
        #expect(throws: AdoptionFault.hash(.unsupported)) { try hasher.adopt(adopted.text) }
    }

    @Test(arguments: strong.map(\.hash) + [strongBcrypt])
    func `a strong hash is kept as it is`(hash: String) throws {
        #expect(try hasher.adopt(hash).text == hash)
    }

    @Test func `a wrapped hash has the pepper too`() throws {
        let key = SymmetricKey.generate()
        let peppered = PasswordHasher(
            parameters: cheap,
            peppers: try #require(PasswordPeppers(keys: ["k": key], current: "k")))
        let adopted = try peppered.adopt(Self.weak[0].hash)
        #expect(adopted.text.contains("keyid=k"))
        #expect(adopted.pepperID == "k")
        #expect(try peppered.verify(Password("U*U"), against: adopted))
        #expect(throws: HashingFault.unknownPepper("k")) {
            try hasher.verify(Password("U*U"), against: adopted)
        }
        // A keyed hash of another system can never be verified.
        #expect(throws: AdoptionFault.hash(.unsupported)) {
            try hasher.adopt(peppered.hash(prepared("password")).text)
        }
    }

    @Test func `bcrypt uses the first 72 bytes, as the other systems did`() throws {
        let hash = "$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui"
        let all = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        #expect(all.utf8.count == 72)
        #expect(try verifies(all, hash) && verifies(all + "chars after 72 are ignored", hash))
        #expect(try verifies(all + String(repeating: "é", count: 476), hash))
        #expect(try !verifies(String(all.dropLast()), hash))
        #expect(try !verifies(all.dropLast() + "8", hash))
    }

    /// `$2x$` names the bug of early crypt_blowfish, in which `$2a$` meant the same.
    @Test func `bcrypt hashes characters outside of ASCII as current systems do`() throws {
        let right = "abcdefghijklmnopqrstuuZCWkhemh7qhNqObKKLOkI3vzsE1IvlC"
        let early = "abcdefghijklmnopqrstuuEc110JlHwAdSXW/1K8wixX7h8SHyvM6"
        for prefix in ["$2a$04$", "$2b$04$", "$2y$04$"] {
            #expect(try verifies("üüüüüü", prefix + right))
            #expect(try !verifies("üüüüüü", prefix + early))
        }
    }

    @Test(arguments: [
        ("$6$rounds=1000$abc$", 511), ("$6$rounds=656000$abc$", 409),
        ("$5$rounds=535000$abc$", 501), ("$5$rounds=1000000$abc$", 268), ("$5$abc$", 511),
        ("$1$abc$", 511),
    ])
    func `many rounds of SHA-crypt limit the length of the password`(text: String, count: Int)
        throws
    {
        #expect(try SHACryptSetting(text[...]).passwordBytesMax == count)
    }

    @Test func `a password too long for the rounds of SHA-crypt matches nothing`() throws {
        let setting = try SHACryptSetting("$5$rounds=1000000$abc$")
        let longest = String(repeating: "a", count: 268)
        #expect(try setting.digest(of: Password(longest).sent, count: 43)?.count == 43)
        #expect(try setting.digest(of: Password(longest + "a").sent, count: 43) == nil)
    }

    @Test func `a password with a NUL, or too long for crypt, equals no shorter one`() throws {
        for published in Self.weak where published.source != "argon2 program" {
            #expect(try !verifies(published.password + "\u{0}", published.hash))
            #expect(try !verifies(published.password + "\u{0}x", published.hash))
            let adopted = try hasher.adopt(published.hash).text
            #expect(try !verifies(published.password + "\u{0}", adopted))
        }
        let hash = "$y$j75$F5Jx5fExrKuPp53xLKQ..1$/nLI.hW88glGQU7YvyK/moKTcqhZ5VWCkwLjbnC5pl3"
        #expect(try verifies(String(repeating: "a", count: 511), hash))
        #expect(try !verifies(String(repeating: "a", count: 512), hash))
    }

    @Test func `the bytes that were sent are hashed, not the prepared ones`() throws {
        let hash = Self.ofSentBytes
        #expect(try verifies("päss wörd", hash))
        #expect(try !verifies("pa\u{308}ss wo\u{308}rd", hash))
        #expect(try !verifies("päss\u{A0}wörd", hash))
    }

    @Test func `no random password verifies`() throws {
        let hashes = try Self.weak.map { try PasswordHash(hasher.adopt($0.hash).text) }
        var random = SameNumbers()
        for count in [1, 4, 11, 23, 40] {
            let text = String(
                (0..<count).map { _ in Character(.init(UInt8.random(in: 1...127, using: &random))) }
            )
            for hash in hashes { #expect(try !hasher.verify(Password(text), against: hash)) }
        }
    }
}
