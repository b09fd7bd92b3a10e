package import Cryptography
package import Ledger

/// The keys that wrap account keys: one that wraps, and former ones that still unwrap.
package struct WrappingKeyring: Sendable {
    private static let context = Array("account-key:".utf8)

    package let currentID: String
    private let keys: [String: SymmetricKey]

    /// Collects wrapping keys by the names that the `wrapping_key` column keeps.
    package init(currentID: String, current: SymmetricKey, former: [String: SymmetricKey] = [:]) {
        self.currentID = currentID
        keys = former.merging([currentID: current]) { _, current in current }
    }

    /// The names of all keys.
    package var ids: Set<String> { Set(keys.keys) }

    /// Whether a key of this name is there.
    func holds(_ id: String) -> Bool { keys[id] != nil }

    /// Encrypts an account's key for the `account_keys` table, bound to tenant and account.
    package func wrap(
        _ accountKey: AccountKey, tenant: TenantID, account: AccountID
    ) -> (wrappingKey: String, wrapped: [UInt8])? {
        guard let key = keys[currentID] else { return nil }
        let wrapped = AESGCM.seal(
            accountKey.bytes, key: key, additional: Self.additional(tenant, account))
        return (wrappingKey: currentID, wrapped: wrapped)
    }

    /// Decrypts an account's key; nil when the wrapping key is unknown or the bytes were changed.
    package func unwrap(
        _ wrapped: [UInt8], wrappingKey: String, tenant: TenantID, account: AccountID
    ) -> AccountKey? {
        guard let key = keys[wrappingKey],
            let bytes = AESGCM.open(
                wrapped, key: key, additional: Self.additional(tenant, account))
        else { return nil }
        return AccountKey(bytes: bytes)
    }

    private static func additional(_ tenant: TenantID, _ account: AccountID) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(128)
        bytes.append(contentsOf: context)
        bytes.append(contentsOf: tenant.description.utf8)
        bytes.append(UInt8(ascii: "/"))
        account.appendText(to: &bytes)
        return bytes
    }
}
