package import Cryptography
package import Ledger
internal import Synchronization

/// The keys that wrap account keys: the current one, and former ones that only unwrap.
///
/// They can be replaced during use, so that a rotation needs no restart.
package final class WrappingKeyring: Sendable {
    private struct Content {
        var currentID: String
        var keys: [String: SymmetricKey]
    }

    private static let context = Array("account-key:".utf8)

    /// The keys that authenticate written rows.
    package let macs: MACKeys
    private let content: Mutex<Content>
    private let onUnknown = Mutex<(@Sendable () -> Void)?>(nil)

    /// Creates a keyring of wrapping keys by their names in the `wrapping_key` column.
    package init(
        currentID: String, current: SymmetricKey, former: [String: SymmetricKey] = [:],
        macs: MACKeys
    ) {
        self.macs = macs
        let keys = former.merging([currentID: current]) { _, current in current }
        content = Mutex(Content(currentID: currentID, keys: keys))
    }

    /// The name of the current key.
    package var currentID: String { content.withLock(\.currentID) }

    /// The names of all keys.
    package var ids: Set<String> { Set(content.withLock(\.keys).keys) }

    /// The name of the current key and every key, for deriving keys of other purposes.
    package var secrets: (currentID: String, keys: [String: SymmetricKey]) {
        content.withLock { ($0.currentID, $0.keys) }
    }

    /// Replaces the keys with those of another keyring.
    package func use(_ other: WrappingKeyring) {
        let new = other.content.withLock(\.self)
        content.withLock { $0 = new }
        macs.use(other.macs)
    }

    /// Sets a handler that is called when an unknown key is requested and may add it.
    ///
    /// It runs on the requesting thread, which continues when it returns.
    package func whenUnknown(_ body: @escaping @Sendable () -> Void) {
        onUnknown.withLock { $0 = body }
    }

    /// Checks whether the keyring has a key of this name.
    package func contains(_ id: String) -> Bool { key(id) != nil }

    /// Encrypts an account's key for the `account_keys` table, bound to tenant and account.
    package func wrap(
        _ accountKey: AccountKey, tenant: TenantID, account: AccountID,
        by sealer: AESGCMSealer = AESGCMSealer()
    ) -> (wrappingKey: String, wrapped: [UInt8])? {
        seal(accountKey.bytes, additional: Self.additional(tenant, account), by: sealer)
    }

    /// Decrypts an account's key; nil if the wrapping key is unknown or the bytes were changed.
    package func unwrap(
        _ wrapped: [UInt8], wrappingKey: String, tenant: TenantID, account: AccountID
    ) -> AccountKey? {
        open(wrapped, wrappingKey: wrappingKey, additional: Self.additional(tenant, account))
            .flatMap(AccountKey.init(bytes:))
    }

    /// Encrypts with the current key.
    package func seal(
        _ secret: [UInt8], additional: [UInt8], by sealer: AESGCMSealer = AESGCMSealer()
    ) -> (wrappingKey: String, wrapped: [UInt8])? {
        let now = content.withLock(\.self)
        guard let key = now.keys[now.currentID] else { return nil }
        let wrapped = sealer.seal(secret, key: key, additional: additional)
        return (wrappingKey: now.currentID, wrapped: wrapped)
    }

    /// Decrypts the result of ``seal(_:additional:by:)``; nil if the key is unknown or anything was
    /// changed.
    package func open(_ wrapped: [UInt8], wrappingKey: String, additional: [UInt8]) -> [UInt8]? {
        key(wrappingKey).flatMap { AESGCM.open(wrapped, key: $0, additional: additional) }
    }

    private func key(_ id: String) -> SymmetricKey? {
        if let key = content.withLock({ $0.keys[id] }) { return key }
        guard let onUnknown = onUnknown.withLock(\.self) else { return nil }
        onUnknown()
        return content.withLock { $0.keys[id] }
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
