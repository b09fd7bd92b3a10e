import Cryptography
import Ledger
import LedgerAPI
import LedgerTestSupport
import Testing

/// What auditors work with, in memory, and keys for them.
struct TestAudit {
    let access: InMemoryAccess
    private let clock: TestClock

    init(clock: TestClock) {
        self.clock = clock
        access = InMemoryAccess(now: { clock.now })
    }

    func services(_ ledger: InMemoryLedger) -> AuditServices {
        AuditServices(keys: access, accesses: access, histories: ledger)
    }

    /// Makes a key and gives its text.
    func key(
        _ role: Role, tenant: TenantID = .default, expiresAt: Timestamp? = nil
    ) throws -> String {
        let key = APIKey(id: APIKeyID(at: clock.now, random: SecureRandom.uint128()))
        access.add(try stored(key, role, expiresAt: expiresAt), to: tenant)
        return key.text
    }

    /// Ends a key of the tenant `default`.
    func revoke(_ text: String, role: Role) throws {
        let key = try #require(APIKey(text))
        access.add(try stored(key, role, revokedAt: clock.now))
    }

    private func stored(
        _ key: APIKey, _ role: Role, expiresAt: Timestamp? = nil, revokedAt: Timestamp? = nil
    ) throws -> StoredAPIKey {
        StoredAPIKey(
            id: key.id, role: role, secretDigest: try #require(key.secretDigest), label: "test",
            createdAt: clock.now, expiresAt: expiresAt, revokedAt: revokedAt)
    }
}
