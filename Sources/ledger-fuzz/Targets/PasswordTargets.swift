import Cryptography
import Ledger
import LedgerSignIn
import LedgerTestSupport
import Passwords

/// Passwords as clients send them, and hashes as they are stored or imported.
enum PasswordTargets {
    static let all = [hashes, passwords, imports]

    private static let imports = FuzzTarget(
        "password-import",
        corpus: [
            #"{"email":"ada@example.com","email_verified":true,"hash":"$1$abc$Kb85XxsXB.VXinPhbS4431"}"#,
            #"{"email":"Bob@EXAMPLE.com","email_verified":true,"hash":"x","provider":"google","provider_id":"1"}"#,
            #"{"email":"eve@example.com","email_verified":false,"hash":"x"}"#,
        ],
        words: [
            "null", "true", "{}", "[]", "\"\"", "\\u0000", "\\ud800", "é", "@", "provider", "hash",
            "email_verified", "1e999",
        ]
    ) { input in
        guard let read = try? PasswordImport(input, .any) else { return false }
        let command = read.command(
            NewPassword(hash: read.hash), for: password, in: .default, names: names,
            newID: { 1 }, at: Timestamp(seconds: 1))
        guard let address = command?.proof.address else {
            throw Finding("an accepted line has no command")
        }
        try require(
            EmailLocalParts.any.canonical(address.text) == address.text,
            "the address is not canonical")
        try require(command?.proof.email?.isVerified == true, "the address is not verified")
        return true
    }

    private static let password = provider("password")
    private static let names = AddressNames(current: "key", keys: ["key": .generate()])

    private static let hashes = FuzzTarget(
        "password-hash",
        corpus: [
            "$argon2id$v=19$m=64,t=2,p=1$c29tZXNhbHQ$FqGkmHNGCd0BRW2kBt6fPZ2pPmyGwwChL8FGUhTOSSI",
            "$argon2id$v=19$m=8,t=1,p=1,keyid=k-1$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAA"
                + "|$6$rounds=1000$abc$86",
            "$2b$04$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui",
            "$1$abc$Kb85XxsXB.VXinPhbS4431",
            "$6$rounds=1000$abcdefgh$XqwJcW6OI747PCzoKGoK/1tWSlKoh2vkjEp0I.CpQYUGXuxtpSzAi0rXpF1oWR"
                + "/3/HfvxKLb7xwD0vymBsSv8/",
            "$y$j/5$F5Jx5fExrKuPp53xLKQ..1$F2mAhV/kVB6sEnbh3hwcFwK6XqBq4/YWx1I6yqRZx/A",
            "$7$/6..../....SodiumChloride$kBGj9fHznVYFQMEn/qDCfrDevf9YDtcDdKvEqHJLV8D",
            "$scrypt$ln=4,r=8,p=1$c2FsdHNhbHRzYWx0c2FsdA$5f/Vi+XRWGUNGScbsma6KJ4zLFIke/NJsrvr7lQLAyA",
            "$pbkdf2-sha256$i=10,l=32$c2FsdHNhbHQ$8nX7hwFEzIB8aPajJTYK8weHQc5Ngz0pFVAKvSu4jQA",
            "$pbkdf2$10$c2FsdHNhbHRzYWx0c2FsdA$2FWw/oC7TQkskizC.81lWlmFAMM",
            "pbkdf2_sha256$10$saltsalt$E196ZhRPzw+wA84EjzHwJO1cv/MFJdO6C/sxmUeTYqY=",
            "$fbscrypt$v=1,n=4,r=8,p=1,ss=Bw==,sk=E196ZhRPzw+wA84EjzHwJO1cv/MFJdO6C/sxmUeTYqY=$c2FsdA==$"
                + "E196ZhRPzw+wA84EjzHwJO1cv/MFJdO6C/sxmUeTYqY=",
        ],
        words: [
            "$", "$$", "|", ",", "=", "m=", "rounds=", "4294967295", "-1", "0", "07", "$argon2id$",
            "$2a$", "$2y$31$", "$5$", "$6$", "$y$", "$7$", "zzzzz", "pbkdf2_sha512$", "keyid=",
            "sha1", "l=64", "=", "\u{0}", "é",
        ]
    ) { input in
        let text = String(decoding: input, as: UTF8.self)
        guard let hash = try? PasswordHash(text) else { return false }
        try require(hash.text == text, "the text of a hash changed")
        try require(text.utf8.count <= PasswordHash.bytesMax, "the text is too long")
        try require(text.utf8.allSatisfy { 0x21...0x7E ~= $0 }, "the text is not visible ASCII")
        if isCheap(text) {
            let isVerified = try? PasswordHasher().verify(
                Password("no such password"), against: hash)
            try require(isVerified != true, "a wrong password verifies")
        }
        return true
    }

    /// Whether verifying a hash takes milliseconds.
    private static func isCheap(_ text: String) -> Bool {
        guard !text.contains("|") else { return false }
        let costs = text.split(separator: "$").prefix(3).joined(separator: ",")
        let numbers = costs.split { !("0"..."9").contains($0) }.map { Int($0) ?? .max }
        return text.hasPrefix("$1$") || text.hasPrefix("$scrypt$ln=4,")
            || text.hasPrefix("$argon2id$") && numbers.allSatisfy { $0 <= 256 }
    }

    private static let passwords = FuzzTarget(
        "password",
        corpus: [
            "correct horse battery staple", "Ame\u{301}lie\u{A0}\u{1112}\u{1161}\u{11AB}",
            "👩\u{200D}💻",
            "a\u{323}\u{307}\u{344}", "\u{1E9B}\u{323}ﬁ", "می\u{200C}خواهم",
        ],
        words: [
            "\u{0}", "\u{7F}", "\u{2028}", "\u{FE0F}", "\u{F73}", "\u{1D15F}", "\u{0344}",
            "\u{1161}",
            "\u{AC00}", "\u{11A8}", "\u{E000}", "\u{10FFFF}", "\u{2126}", "\u{3000}", "\u{0F77}",
        ]
    ) { input in
        let text = String(decoding: input, as: UTF8.self)
        guard let password = try? Password(text) else {
            try require(
                text.isEmpty || text.utf8.count > Password.bytesMax, "a password is refused")
            return false
        }
        try require(
            text.utf8.count <= Password.bytesMax && !text.isEmpty, "a password is accepted")
        guard let prepared = password.prepared else { return false }
        try require(
            prepared.length <= text.unicodeScalars.count * 4, "the preparation adds characters")
        try require(
            !text.unicodeScalars.contains { $0.properties.generalCategory == .control },
            "a control character is accepted")
        try require(
            !"\(password)\(prepared)".contains(text) || text.utf8.count < 20, "it is printed")
        return true
    }
}
