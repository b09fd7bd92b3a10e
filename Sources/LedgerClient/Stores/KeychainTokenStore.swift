#if canImport(Security)
    import Foundation
    import Security

    /// Keeps the session in the Keychain, on this device only, available after its first unlock.
    ///
    /// An app and its extensions share it by an access group, and exclude each other by the lock file, which has no
    /// contents and belongs in the container of their app group. Without a lock, two processes may refresh at a time;
    /// both get the same new token as long as their requests are less than ten seconds apart.
    /// ``FileLock`` tells how an app stays running while it holds the lock.
    public struct KeychainTokenStore: TokenStore {
        private let service: String
        private let account: String
        private let accessGroup: String?
        private let lock: FileLock?
        private let line = WaitingLine()

        /// Names the item.
        ///
        /// - Parameters:
        ///   - service: The item's service, such as the bundle identifier of the app.
        ///   - account: The item's account, for several sessions of an app.
        ///   - accessGroup: The access group of apps that share the session; nil for this app alone.
        ///   - lock: Excludes other processes with the same item.
        public init(
            service: String, account: String = "account-ledger", accessGroup: String? = nil,
            lock: FileLock? = nil
        ) {
            self.service = service
            self.account = account
            self.accessGroup = accessGroup
            self.lock = lock
        }

        /// Reads the item.
        ///
        /// - Returns: The state; nil if there is no item.
        /// - Throws: ``StoreError``, such as before the first unlock of the device.
        public func load() throws(StoreError) -> StoredState? {
            var query = query
            query[kSecReturnData as String] = true
            query[kSecMatchLimit as String] = kSecMatchLimitOne
            var item: CFTypeRef?
            let status = unsafe SecItemCopyMatching(query as CFDictionary, &item)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let data = item as? Data else {
                throw StoreError("The Keychain cannot be read: \(status)")
            }
            guard let state = try? JSONDecoder().decode(StoredState.self, from: data) else {
                throw StoreError("The Keychain's item is damaged")
            }
            return state
        }

        /// Replaces or removes the item.
        ///
        /// - Parameter state: The new state.
        /// - Throws: ``StoreError``.
        public func save(_ state: StoredState?) throws(StoreError) {
            guard let state else {
                let status = SecItemDelete(query as CFDictionary)
                guard status == errSecSuccess || status == errSecItemNotFound else {
                    throw StoreError("The Keychain's item cannot be removed: \(status)")
                }
                return
            }
            guard let data = try? JSONEncoder().encode(state) else {
                throw StoreError("The session cannot be encoded")
            }
            let values: [String: Any] = [
                kSecValueData as String: data,
                kSecAttrAccessible as String:
                    kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            var status = SecItemUpdate(query as CFDictionary, values as CFDictionary)
            if status == errSecItemNotFound {
                let item = query.merging(values) { _, new in new }
                status = unsafe SecItemAdd(item as CFDictionary, nil)
            }
            guard status == errSecSuccess else {
                throw StoreError("The Keychain cannot be written: \(status)")
            }
        }

        /// Runs work while no other task, and with a lock no other process, does.
        ///
        /// - Parameter work: The work.
        /// - Returns: Its result.
        /// - Throws: ``StoreError`` if another process keeps the lock for too long.
        public func exclusively<Value: Sendable>(
            _ work: @Sendable () async -> Value
        ) async throws(StoreError) -> Value {
            if let lock { return try await lock.hold(work) }
            await line.enter()
            let value = await work()
            await line.leave()
            return value
        }

        private var query: [String: Any] {
            var query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrService as String: service,
                kSecAttrAccount as String: account,
                // On a Mac, the Keychain of iOS, which has access groups.
                kSecUseDataProtectionKeychain as String: true,
            ]
            if let accessGroup { query[kSecAttrAccessGroup as String] = accessGroup }
            return query
        }
    }
#endif
