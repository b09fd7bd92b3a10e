package import Cryptography
package import Ledger

/// Makes the names of addresses: digests by keys that are derived from the encryption keys.
package final class AddressNames: Sendable {
    private enum Purpose: String, CaseIterable {
        case address
    }

    private let keys: PurposeKeys<Purpose>

    /// Derives the keys.
    ///
    /// - Parameters:
    ///   - current: The name of the encryption key in use.
    ///   - keys: Every encryption key by its name.
    package init(current: String, keys: [String: SymmetricKey]) {
        self.keys = PurposeKeys(label: AddressCodes.label, current: current, secrets: keys)
    }

    /// Replaces the keys.
    func use(current: String, keys: [String: SymmetricKey]) {
        self.keys.use(current: current, secrets: keys)
    }

    /// Returns the names of an address by every key, first by the one in use.
    ///
    /// - Parameters:
    ///   - address: The canonical form.
    ///   - kind: The kind of the address.
    ///   - tenant: The tenant.
    /// - Returns: One name for each key.
    package func all(
        of address: String, _ kind: AddressKind, in tenant: TenantID
    ) -> [AddressName] {
        let message = AddressCodes.message([tenant.description, kind.rawValue, address])
        return keys.macs(of: message, .address).compactMap { key, mac in
            Digest(mac).map { AddressName(kind: kind, digest: $0, key: key) }
        }
    }
}
