/// A well-formed code of an authenticator app, right or wrong.
package struct TOTPCode: Sendable {
    static let digitCount = 6

    /// The digits in ASCII.
    let digits: [UInt8]

    /// Reads six ASCII digits; nil for any other text.
    package init?(_ text: String) {
        let range = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard text.utf8.count == Self.digitCount, text.utf8.allSatisfy(range.contains) else {
            return nil
        }
        digits = Array(text.utf8)
    }
}
