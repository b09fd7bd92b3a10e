internal import Addresses
package import Ledger
package import LedgerMessages

/// The settings of a provider that sends codes to addresses of one kind.
package struct CodeSettings: Sendable {
    /// The maximum length of a typed address.
    package static let typedBytesMax = EmailAddress.typedBytesMax

    package let kind: AddressKind

    /// Describes a provider.
    package init(kind: AddressKind) {
        self.kind = kind
    }

    /// Reads a provider's section of the providers file.
    init(_ object: StrictObject, _ kind: AddressKind) throws(ProvidersFileFault) {
        try object.allow(StrictObject.commonMembers)
        self.kind = kind
    }

    /// Whether messages may go to an address; a phone number must be one of the tenant's countries.
    ///
    /// - Parameters:
    ///   - address: The canonical form.
    ///   - settings: The tenant's messages.
    /// - Returns: Whether a code may be sent.
    package func mayReceive(_ address: String, under settings: MessageSettings) -> Bool {
        guard kind == .phone else { return true }
        guard let number = try? PhoneNumber(address) else { return false }
        return settings.smsCountries.mayReceive(
            region: number.region, mayBeMobile: number.mayBeMobile)
    }

    /// Returns the canonical form of a typed phone number; nil for another text.
    package static func number(_ typed: String) -> String? { try? PhoneNumber(typed).text }
}
