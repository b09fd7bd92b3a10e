package import Cryptography
package import Ledger

/// The key that encrypts the disclosures about one account; destroying it erases them.
package struct AccountKey: Sendable {
    private static let context = Array("disclosures:".utf8)

    let bytes: [UInt8]
    private let key: SymmetricKey

    /// Creates a key from exactly 32 bytes; nil for any other number.
    package init?(bytes: [UInt8]) {
        guard let key = SymmetricKey(bytes: bytes) else { return nil }
        self.bytes = bytes
        self.key = key
    }

    /// Generates a random key.
    package static func generate() -> AccountKey? {
        AccountKey(bytes: SecureRandom.bytes(32))
    }

    /// Generates random keys by one draw, which costs little more than that of one key.
    package static func generate(_ count: Int) -> [AccountKey] {
        let bytes = SecureRandom.bytes(count * SymmetricKey.byteCount)
        return (0..<count).compactMap { index in
            let start = index * SymmetricKey.byteCount
            return AccountKey(bytes: Array(bytes[start..<start + SymmetricKey.byteCount]))
        }
    }

    /// Encrypts the disclosures of one event about this account, bound to their position in the
    /// log.
    package func seal(
        _ disclosures: [[UInt8]], tenant: TenantID, position: LogPosition, account: AccountID,
        by sealer: AESGCMSealer = AESGCMSealer()
    ) -> [UInt8] {
        sealer.seal(
            DisclosureList.join(disclosures), key: key,
            additional: Self.additional(tenant, position, account))
    }

    /// Decrypts the result of ``seal(_:tenant:position:account:by:)``; nil if anything was changed.
    package func open(
        _ ciphertext: [UInt8], tenant: TenantID, position: LogPosition, account: AccountID
    ) -> [(encoded: [UInt8], disclosure: Disclosure)]? {
        AESGCM.open(
            ciphertext, key: key, additional: Self.additional(tenant, position, account)
        ).flatMap(DisclosureList.split)
    }

    private static func additional(
        _ tenant: TenantID, _ position: LogPosition, _ account: AccountID
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(160)
        bytes.append(contentsOf: context)
        bytes.append(contentsOf: tenant.description.utf8)
        bytes.append(UInt8(ascii: "/"))
        bytes.append(contentsOf: position.description.utf8)
        bytes.append(UInt8(ascii: "/"))
        account.appendText(to: &bytes)
        return bytes
    }
}
