import Cryptography
import Ledger
import LedgerAPI
import LedgerTestSupport
import Testing
import TransparencyLog

/// The auditors' services in memory, and keys for them.
struct TestAudit {
    let access: InMemoryAccess
    let proofs: InMemoryProofs
    let verifier: NoteVerifier
    private let events: any EventReader
    private let names: any NameReader
    /// The maximum number of open streams of a tenant.
    static let streamsMax = 2

    private let streams: EventStreams
    /// The messages that support sees.
    var messages = InMemoryMessages()
    private let conflicts: InMemoryConflicts
    private let limiter = AuditRequestLimiter()
    private let ledger: InMemoryLedger
    private let clock: TestClock

    init(
        _ ledger: InMemoryLedger, events: (any EventReader)?, names: (any NameReader)?,
        clock: TestClock
    ) throws {
        self.clock = clock
        self.ledger = ledger
        conflicts = InMemoryConflicts(ledger)
        access = InMemoryAccess(now: { clock.now })
        self.events = events ?? InMemoryEvents(ledger)
        self.names = names ?? InMemoryNames(ledger)
        streams = EventStreams(
            events: self.events, watch: InMemoryEvents(ledger), countMax: 2 * Self.streamsMax)
        let signer = NoteSigner(
            name: try #require(NoteKeyName("ledger.example/default")),
            privateKey: try #require(Ed25519PrivateKey(seed: Array(0..<32))))
        verifier = signer.verifier
        proofs = InMemoryProofs(ledger, signer: signer)
    }

    var services: AuditServices {
        AuditServices(
            keys: access, accesses: access, events: events, proofs: proofs, histories: ledger,
            searches: InMemorySearch(ledger), conflicts: conflicts, messages: messages,
            overviews: InMemoryOverview(ledger), holds: InMemoryHolds(ledger),
            owners: InMemoryOwners(ledger), names: names,
            bundles: InMemoryBundles(ledger, proofs: proofs),
            streams: streams, limiter: limiter)
    }

    /// Creates a key and returns its text.
    func key(
        _ role: Role, tenant: TenantID = .default, expiresAt: Timestamp? = nil
    ) throws -> String {
        let key = APIKey(id: APIKeyID(at: clock.now, random: SecureRandom.uint128()))
        access.add(try stored(key, role, expiresAt: expiresAt), to: tenant)
        return key.text
    }

    /// Revokes a key of the tenant `default`.
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
