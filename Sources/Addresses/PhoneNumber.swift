internal import CPhoneNumber

/// A phone number in its canonical form, E.164.
///
/// libphonenumber decides which numbers exist; its plans of numbers are as old as the installed library.
package struct PhoneNumber: Hashable, Sendable {
    /// The version of these rules, for storing beside the form.
    package static let formVersion = 1
    /// The maximum length of a typed text.
    package static let typedBytesMax = 64

    /// A plus sign and at most 15 digits.
    package let text: String
    /// The country, two letters of ISO 3166; `001` for the numbers of no country.
    package let region: String
    /// Whether it may belong to a mobile phone: some countries do not distinguish these.
    package let mayBeMobile: Bool

    /// Reads a typed number.
    ///
    /// - Parameters:
    ///   - typed: the number, in groups separated by spaces, hyphens, dots, slashes and parentheses.
    ///   - region: the country of numbers without a plus sign; nil to refuse these.
    /// - Throws: the reason why it is not a number.
    package init(_ typed: String, defaultRegion region: String? = nil) throws(PhoneNumberFault) {
        let digits = try Self.digits(of: typed)
        guard region != nil || digits.hasPrefix("+") else { throw .notInternational }
        guard region?.utf8.allSatisfy(ASCIIClasses.isLetter) != false else {
            throw .unknownRegion
        }
        var number = cphonenumber_number()
        switch unsafe cphonenumber_read(digits, region, &number) {
        case cphonenumber_valid: break
        case cphonenumber_unknown_region: throw .unknownRegion
        case cphonenumber_unknown_country_code: throw .unknownCountryCode
        case cphonenumber_wrong_length: throw .wrongLength
        case cphonenumber_not_assigned: throw .notAssigned
        case cphonenumber_unreadable: throw .unreadable
        default: preconditionFailure("libphonenumber has no memory")
        }
        text = Self.text(number.text)
        self.region = Self.text(number.region)
        mayBeMobile = number.may_be_mobile
    }

    /// Returns the digits and the plus sign before them.
    ///
    /// The library itself would find a number in any text, and read letters and extensions.
    private static func digits(of typed: String) throws(PhoneNumberFault) -> String {
        guard typed.utf8.count <= typedBytesMax else { throw .wrongLength }
        let separators = Set(" -./()".utf8)
        var digits: [UInt8] = []
        for (offset, byte) in typed.utf8.enumerated() {
            if ASCIIClasses.isDigit(byte) || (byte == UInt8(ascii: "+") && offset == 0) {
                digits.append(byte)
            } else if !separators.contains(byte) {
                throw .character
            }
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// Returns the text of a C array up to its NUL.
    private static func text<Characters>(_ characters: Characters) -> String {
        unsafe withUnsafeBytes(of: characters) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
