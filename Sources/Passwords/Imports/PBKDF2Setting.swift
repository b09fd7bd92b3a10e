internal import Cryptography
internal import Encodings

/// PBKDF2 in three forms.
///
/// - PHC strings: `$pbkdf2-sha256$i=600000[,l=32]$SALT$DIGEST` in Base64 without padding;
/// - passlib: `$pbkdf2-sha256$600000$SALT$DIGEST` with `.` for `+`;
/// - Django: `pbkdf2_sha256$600000$SALT$DIGEST`, whose salt is text and whose digest has padding.
///
/// With SHA-256, SHA-512, and SHA-1, which passlib names `$pbkdf2$`.
struct PBKDF2Setting: HashSetting {
    private enum Encoding {
        case phc
        case passlib
        case django
    }

    let text: String
    private let encoding: Encoding
    private let function: PBKDF2.Digest
    private let iterations: Int
    private let salt: [UInt8]
    private let digestCount: Int

    init(_ text: Substring) throws(PasswordHashFault) {
        let isDjango = text.hasPrefix("pbkdf2_")
        let fields = try HashFields.split(isDjango ? "$" + text : text, count: 4)
        switch fields[1].dropFirst("pbkdf2".count).dropFirst() {
        case "sha256": function = .sha256
        case "sha512": function = .sha512
        case "sha1": function = .sha1
        case "" where fields[1] == "pbkdf2": function = .sha1
        default: throw .unsupported
        }
        let hasLength = fields[2].contains(",")
        if isDjango || !fields[2].hasPrefix("i=") {
            encoding = isDjango ? .django : .passlib
            iterations = try HashFields.number(fields[2])
            digestCount = function.byteCount
        } else {
            encoding = .phc
            let values = try HashFields.members(fields[2], hasLength ? ["i", "l"] : ["i"])
            iterations = try HashFields.number(values[0])
            digestCount = hasLength ? try HashFields.number(values[1]) : function.byteCount
        }
        guard iterations >= 1, (16...64).contains(digestCount) else { throw .malformed }
        let blocks = (digestCount + function.byteCount - 1) / function.byteCount
        guard iterations <= CostLimits.pbkdf2IterationsMax / blocks else {
            throw .costTooHigh(.iterations)
        }
        salt = try HashFields.salt(
            encoding == .django ? Array(fields[3].utf8) : Self.decode(fields[3], encoding))
        self.text = String(text)
    }

    private static func decode(_ text: Substring, _ encoding: Encoding) -> [UInt8]? {
        switch encoding {
        case .phc: return HashFields.decode(unpadded: text)
        case .passlib:
            guard !text.contains("+") else { return nil }
            return HashFields.decode(unpadded: Substring(text.map { $0 == "." ? "+" : $0 }))
        case .django: return Base64.decode(text)
        }
    }

    var digestCounts: ClosedRange<Int> { digestCount...digestCount }

    /// Below the iterations that OWASP recommends.
    var isWeak: Bool {
        switch function {
        case .sha1: true
        case .sha256: iterations < 600_000
        case .sha512: iterations < 210_000
        }
    }

    func decode(digest: Substring) -> [UInt8]? { Self.decode(digest, encoding) }

    func digest(of password: WipedBytes, count: Int) throws(HashingFault) -> [UInt8]? {
        PBKDF2.derive(
            password, salt: salt, iterations: iterations, digest: function, count: count)
    }
}
