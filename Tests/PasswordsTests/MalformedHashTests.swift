import Testing

@testable import Passwords

/// Texts that are no hashes, and hashes that would cost too much: refused before any hashing.
@Suite struct MalformedHashTests {
    private static let digest = "FqGkmHNGCd0BRW2kBt6fPZ2pPmyGwwChL8FGUhTOSSI"
    private static let argon = "$argon2id$v=19$m=64,t=2,p=1$c29tZXNhbHQ$\(digest)"
    private static let bcryptTail = "abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui"
    private static let crypt43 = String(repeating: "a", count: 43)
    private static let crypt86 = String(repeating: "a", count: 86)

    private static func argon(_ part: String, _ other: String) -> String {
        argon.replacing(part, with: other)
    }

    private func fault(_ text: String) -> PasswordHashFault? {
        do throws(PasswordHashFault) {
            _ = try PasswordHash(text)
            return nil
        } catch {
            return error
        }
    }

    @Test func `no truncated hash is accepted as such`() throws {
        for published in ImportedHashTests.weak + ImportedHashTests.strong {
            #expect(fault(published.hash) == nil)
            for count in 0..<published.hash.count {
                // A shorter digest is one of another length where the scheme has several.
                guard let hash = try? PasswordHash(String(published.hash.prefix(count))) else {
                    continue
                }
                switch hash.form {
                case .own(_, let digest), .imported(_, let digest), .wrapped(_, let digest, _, _):
                    #expect(digest.count >= 16 && digest.count < 64, "\(hash.text)")
                }
            }
        }
    }

    private static let malformed: [String] = [
        argon("m=64", "m=-64"), argon("m=64", "m=064"),
        argon("m=64", "m=+64"), argon("m=64", "m="),
        argon("m=64", "m=6 4"), argon("m=64", "m=99999999999"),
        argon("m=64", "m=7"), argon("t=2", "t=0"),
        argon("p=1", "p=0"), argon("p=1", "p=1,x=1"),
        argon("p=1", "p=1,keyid="), argon("p=1", "p=1,keyid=a/b"),
        argon("m=64,t=2", "t=2,m=64"), argon("v=19", "v=16"),
        argon("$v=19", ""), argon("c29tZXNhbHQ", "c29tZXNhbHQ="),
        argon("c29tZXNhbHQ", "c29tZXNhbHR"),
        argon("c29tZXNhbHQ", "c29t"), argon("c29tZXNhbHQ", "c2_-tZQ"),
        "\(argon)=", "\(argon)$", "\(argon)\n", " \(argon)", "\(argon)é",
        "\(argon)|$1$abc$", "\(argon)|$1$abc$21", "\(argon)|$1$abc$022", "\(argon)|$1$abc$-22",
        "\(argon)|\(argon)|$1$abc$22", "$1$abc$Kb85XxsXB.VXinPhbS4431|$1$abc$22",
        "$2b$09\(bcryptTail)", "$2b$9$\(bcryptTail)", "$2b$+9$\(bcryptTail)",
        "$2b$03$\(bcryptTail)", "$2b$00$\(bcryptTail)", "$2b$10$\(bcryptTail)a",
        "$2b$10$\(bcryptTail.dropLast())=", "$2b$10$\(bcryptTail.dropLast())-",
        "$6$rounds=999$abc$\(crypt86)", "$6$rounds=-5000$abc$\(crypt86)",
        "$6$rounds=05000$abc$\(crypt86)", "$6$rounds=$abc$\(crypt86)", "$6$$\(crypt86)",
        "$6$abcdefghijklmnopq$\(crypt86)", "$6$a:b$\(crypt86)", "$6$abc$\(crypt43)",
        "$1$abcdefghi$\(crypt43.prefix(22))", "$y$j75$$\(crypt43)", "$y$j75$abcde$\(crypt43)",
        "$y$j75$a*c$\(crypt43)", "$7$C6..../...$\(crypt43)", "$7$C6..../....$\(crypt43)",
        "$7$C6.........salt$\(crypt43)", "$7$.6..../....salt$\(crypt43)",
        "$scrypt$ln=0,r=8,p=1$c29tZXNhbHQ$\(digest)", "$scrypt$ln=4,r=0,p=1$c29tZXNhbHQ$\(digest)",
        "$scrypt$ln=4,r=8,p=0$c29tZXNhbHQ$\(digest)", "$scrypt$ln=16,r=1,p=1$c29tZXNhbHQ$\(digest)",
        "$scrypt$ln=4,r=8$c29tZXNhbHQ$\(digest)", "$scrypt$ln=4,r=8,p=1$$\(digest)",
        "$pbkdf2-sha256$0$c29tZXNhbHQ$\(digest)", "$pbkdf2-sha256$-1$c29tZXNhbHQ$\(digest)",
        "$pbkdf2-sha256$1000$$\(digest)", "$pbkdf2-sha256$1000$c29t+XNhbHQ$\(digest)",
        "$pbkdf2-sha256$i=1000,l=31$c29tZXNhbHQ$\(digest)",
        "$pbkdf2-sha256$i=1000,l=8$c29tZXNhbHQ$AAAAAAAAAAA",
        "$pbkdf2-sha512$1000$c29tZXNhbHQ$\(digest)",
        "pbkdf2_sha256$1000$salt$\(digest)", "pbkdf2_sha256$1000$$\(digest)=",
        "$fbscrypt$v=2,n=14,r=8,p=1,ss=Bw==,sk=\(digest)=$c2FsdA==$\(digest)=",
        "$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=c2hvcnQ=$c2FsdA==$c2hvcnQ=",
        "$fbscrypt$v=1,n=14,r=8,p=1,sk=\(digest)=$c2FsdA==$\(digest)=",
    ]

    @Test(arguments: malformed)
    func `a malformed text is refused`(text: String) {
        #expect(fault(text) == .malformed)
    }

    private static let unknown: [String] = [
        "", "password", "$", "\(argon)|", "$5", "$3$$8846f7eaee8fb117ad06bdd830b7586c",
        "$2x$10$\(bcryptTail)",
        "$2$10$\(bcryptTail)", "$argon2i$v=19$m=64,t=2,p=1$c29tZXNhbHQ$\(digest)",
        "$argon2d$v=19$m=64,t=2,p=1$c29tZXNhbHQ$\(digest)",
        "$pbkdf2-md5$1000$c29tZXNhbHQ$\(digest)",
        "pbkdf2_$1000$salt$\(digest)", "$sha1$40000$jtNX3nZ2$hBNaIXkt4wBI2o5rsi8KejSjNqIq",
        "5f4dcc3b5aa765d61d8327deb882cf99", "md5$salt$67a1e09bb1f83f5007dc119c14d663aa",
        "abJnggxhB/yWI",
        "$y$jD5.7$LdJMENpBABJJ3hIHjB1Bi.$HboGM6qPrsK.StKYGt6KErmUYtioHreJd98oIugoNB6",
        "$y$k75$abc$\(crypt43)", "$gy$j9T$abc$\(crypt43)",
    ]

    @Test(arguments: unknown)
    func `an unknown scheme is refused`(text: String) {
        #expect(fault(text) == .unsupported)
    }

    private static let costly: [(String, PasswordHashFault.Cost)] = [
        (argon("m=64", "m=262145"), .memory),
        (argon("m=64", "m=4294967295"), .memory),
        (argon("t=2", "t=4294967295"), .iterations),
        (argon("m=64,t=2", "m=262144,t=5"), .iterations),
        (argon("m=64,t=2,p=1", "m=256,t=2,p=17"), .lanes),
        ("$2b$15$\(bcryptTail)", .iterations), ("$2b$31$\(bcryptTail)", .iterations),
        ("$6$rounds=1000001$abc$\(crypt86)", .iterations),
        ("$5$rounds=999999999$abc$\(crypt43)", .iterations),
        ("$y$jET$abcd$\(crypt43)", .memory),
        ("$7$zzzzzzzzzzzsalt$\(crypt43)", .memory), ("$7$C6....F....salt$\(crypt43)", .lanes),
        ("$scrypt$ln=18,r=8,p=3$c29tZXNhbHQ$\(digest)", .iterations),
        ("$scrypt$ln=19,r=8,p=1$c29tZXNhbHQ$\(digest)", .memory),
        ("$scrypt$ln=63,r=8,p=1$c29tZXNhbHQ$\(digest)", .memory),
        ("$scrypt$ln=30,r=9999999999,p=1$c29tZXNhbHQ$\(digest)", .memory),
        ("$scrypt$ln=4,r=8,p=17$c29tZXNhbHQ$\(digest)", .lanes),
        ("$pbkdf2-sha256$2500001$c29tZXNhbHQ$\(digest)", .iterations),
        ("$pbkdf2-sha256$i=1250001,l=33$c29tZXNhbHQ$\(digest)AA", .iterations),
        ("pbkdf2_sha256$9999999999$salt$\(digest)=", .iterations),
        ("\(argon)|$6$rounds=1000001$abc$86", .iterations),
        ("\(argon)|$argon2id$v=19$m=262145,t=1,p=1$c29tZXNhbHQ$32", .memory),
    ]

    @Test(arguments: costly)
    func `a hash that costs too much is refused, by the limit`(
        text: String, cost: PasswordHashFault.Cost
    ) {
        #expect(fault(text) == .costTooHigh(cost))
    }

    @Test func `a text has a maximum length`() {
        #expect(fault(String(repeating: "$", count: 1025)) == .tooLong)
        #expect(fault(String(repeating: "$", count: 1024)) == .unsupported)
        #expect(fault(String(repeating: "|", count: 5_000_000)) == .tooLong)
    }
}
