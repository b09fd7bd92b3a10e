/// The reasons why a text is not a phone number.
package enum PhoneNumberFault: String, Error, Sendable, CaseIterable {
    /// A character besides digits, separators and a plus sign at the beginning, such as an extension's.
    case character
    /// No plus sign, where no region says which country is meant.
    case notInternational
    /// The region is not the code of a country.
    case unknownRegion
    /// No country has the number's code.
    case unknownCountryCode
    /// Too few or too many digits.
    case wrongLength
    /// The country has no such number.
    case notAssigned
    /// The library fails to read it.
    case unreadable
}
