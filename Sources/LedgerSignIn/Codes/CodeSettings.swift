internal import Addresses
package import Ledger

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

    /// Returns the canonical form of a typed address; nil for a text that is no address of the kind.
    package func canonical(_ typed: String) -> String? {
        switch kind {
        case .email: try? EmailAddress(typed).text
        case .phone: try? PhoneNumber(typed).text
        }
    }
}
