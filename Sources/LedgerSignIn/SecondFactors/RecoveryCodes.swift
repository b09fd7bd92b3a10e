internal import Cryptography
internal import Encodings

/// A set of recovery codes: ten codes of 80 random bits, each of which stands in for a second factor once.
///
/// A code is written as four groups of four letters and digits, which is how people copy it.
struct RecoveryCodes {
    static let count = 10
    private static let byteCount = 10
    private static let groupLength = 4
    private static let digestBytes = 32

    /// The codes as they are shown, once.
    let codes: [String]

    /// Makes a set.
    init() {
        codes = (0..<Self.count).map { _ in
            let text = Array(Base32.encode(SecureRandom.bytes(Self.byteCount)))
            return stride(from: 0, to: text.count, by: Self.groupLength)
                .map { String(text[$0..<min($0 + Self.groupLength, text.count)]) }
                .joined(separator: "-")
        }
    }

    /// The digests of the codes, one after the other, as they are stored.
    var secret: [UInt8] { codes.flatMap(Self.digest(of:)) }

    /// Returns the number of a code in a stored set; nil for a wrong one.
    ///
    /// Upper and lower case, hyphens and spaces don't matter. The time that this takes depends on the length of the
    /// code alone.
    static func number(of code: String, in secret: [UInt8]) -> Int? {
        let digest = digest(of: code)
        var found: Int?
        for number in 0..<secret.count / digestBytes {
            let stored = secret[number * digestBytes..<(number + 1) * digestBytes]
            if constantTimeEqual(Array(stored), digest) { found = number }
        }
        return found
    }

    private static func digest(of code: String) -> [UInt8] {
        SHA256.hash(String(code.uppercased().filter { $0 != "-" && $0 != " " }))
    }
}
