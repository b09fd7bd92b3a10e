package import Ledger

/// The keys of the accounts in a batch.
///
/// A key is unwrapped only when it is requested, since most commands disclose nothing about their
/// account.
package struct BatchAccountKeys {
    private enum Key {
        case wrapped([UInt8], wrappingKey: String)
        case open(AccountKey)
        /// No wrapping key opens it.
        case unreadable
    }

    private let tenant: TenantID
    private let keyring: WrappingKeyring
    private var keys: [AccountID: Key] = [:]

    init(tenant: TenantID, keyring: WrappingKeyring) {
        self.tenant = tenant
        self.keyring = keyring
    }

    mutating func reserve(forCommands count: Int) {
        keys.reserveCapacity(count)
    }

    /// Adds a key as stored.
    package mutating func load(_ wrapped: [UInt8], wrappingKey: String, of account: AccountID) {
        keys[account] = .wrapped(wrapped, wrappingKey: wrappingKey)
    }

    /// Adds the key of an account that the batch opens.
    package mutating func add(_ key: AccountKey, of account: AccountID) {
        keys[account] = .open(key)
    }

    /// Returns an account's key; nil if it has no readable key.
    package subscript(account: AccountID) -> AccountKey? {
        mutating get {
            switch keys[account] {
            case .open(let key): return key
            case .unreadable, nil: return nil
            case .wrapped(let wrapped, let wrappingKey):
                let key = keyring.unwrap(
                    wrapped, wrappingKey: wrappingKey, tenant: tenant, account: account)
                keys[account] = key.map(Key.open) ?? .unreadable
                return key
            }
        }
    }
}
