internal import Cryptography
package import Ledger
package import LedgerEngine
package import LedgerMessages
import LedgerPostgres
internal import Postgres
internal import Synchronization

/// A running sequencer on a scratch database, with access to its log.
package struct SequencerFixture: Sendable {
    package let sequencer: Sequencer
    private let database: ScratchDatabase
    private let faults: FaultList
    private let isProtected: Bool

    /// The keyring of every fixture, so that several can share a database; it allows logs without
    /// protection.
    package static let keyring = keyring(allowsUnprotected: true)

    /// The same keys for protected logs: it allows no log without protection.
    package static let strictKeyring = keyring(allowsUnprotected: false)

    private static func keyring(allowsUnprotected: Bool) -> WrappingKeyring {
        WrappingKeyring(
            currentID: "test", current: SymmetricKey(repeating: 0x5A),
            macs: MACKeys(
                current: macKey, former: [nextMACKey], allowsUnprotected: allowsUnprotected))
    }

    /// The MAC key of every fixture.
    package static let macKey = MACKey(SymmetricKey(repeating: 0xA5))

    /// The MAC key after a rotation.
    package static let nextMACKey = MACKey(SymmetricKey(repeating: 0xA6))

    /// A policy with budgets that tests do not exhaust.
    package static var unlimitedPolicy: TenantPolicy {
        var policy = TenantPolicy(providers: Set(RandomCommands.providers))
        policy.linkBudget = Budget(limit: 100_000, windowSeconds: 3600)
        policy.signInBudget = Budget(limit: 100_000, windowSeconds: 3600)
        return policy
    }

    /// Runs a sequencer during the body, and by default opens the ledger of the tenant `default`, on request
    /// protected by MACs as by `serve`.
    ///
    /// - Throws: an error of the body.
    package static func with<Value: Sendable>(
        _ database: ScratchDatabase, policy: TenantPolicy = unlimitedPolicy, queueLimit: Int = 4096,
        batchLimit: Int = 256, isProtected: Bool = false, keyring: WrappingKeyring? = nil,
        opensLedger: Bool = true, noticeLanguage: MessageLanguage? = nil,
        noticeTextsMax: Int = .max,
        onCommit: @escaping @Sendable ([TenantRecordings]) -> Void = { _ in },
        _ body: (SequencerFixture) async throws -> Value
    ) async throws -> Value {
        let faults = FaultList()
        var configuration = SequencerConfiguration(url: database.runtimeURL)
        configuration.queueLimit = queueLimit
        configuration.batchLimit = batchLimit
        configuration.noticeLanguage = { _ in noticeLanguage }
        configuration.noticeTextsMax = { _ in noticeTextsMax }
        // Tests of the sequencer do not depend on time.
        configuration.waitMax = .seconds(600)
        let sequencer = Sequencer(
            configuration: configuration, policy: { _ in policy },
            keyring: keyring ?? (isProtected ? strictKeyring : Self.keyring),
            onCommit: onCommit, onFault: { faults.add($0) })
        let fixture = SequencerFixture(
            sequencer: sequencer, database: database, faults: faults, isProtected: isProtected)
        let running = Task { await sequencer.run() }
        do {
            if opensLedger { try await fixture.open(.default) }
            let value = try await body(fixture)
            sequencer.close()
            await running.value
            return value
        } catch {
            sequencer.close()
            await running.value
            throw error
        }
    }

    /// The faults that the sequencer reported.
    package var reportedFaults: [String] { faults.all }

    /// Opens a tenant's ledger.
    ///
    /// - Throws: `LedgerFault`.
    package func open(_ tenant: TenantID) async throws {
        _ = try await sequencer.submit(Self.opening(of: tenant, isProtected: isProtected))
    }

    /// Makes the command that opens a fixture's ledger.
    package static func opening(of tenant: TenantID, isProtected: Bool = false) -> Command {
        let fact = LedgerOpened(
            mode: .development, encryptionKey: "test",
            macKey: isProtected ? macKey.id.description : nil, tokenKey: "test")
        return Command(
            id: CommandID(bits: 1), tenant: tenant,
            origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
            intent: .openLedger(OpenLedger(fact)))
    }

    /// Signs in, and opens an account for an unknown subject.
    ///
    /// - Throws: `LedgerFault`, or `ModelLedger.Unexpected` when it is refused.
    package func signIn(_ subject: Subject) async throws -> Caller {
        var generator = SeededGenerator(seed: UInt64.random(in: 0...(.max)))
        let intent = SignIn(
            proof(
                subject, email: Email("a@example.org", isVerified: true),
                authenticatedAt: Timestamp(seconds: 1_000_000_000_000)),
            createAccount: true, refreshToken: digest(generator.bytes(32)),
            newAccount: generator.id(), newIdentity: generator.id(), newSession: generator.id())
        let result = try await sequencer.submit(
            Command(
                id: generator.id(), tenant: .default,
                origin: Command.Origin(
                    request: generator.id(), clientIP: "203.0.113.7", userAgent: nil),
                intent: .signIn(intent)))
        guard case .success(.signedIn(let grant, _)) = result else {
            throw ModelLedger.Unexpected(result: result)
        }
        return Caller(account: grant.account, session: grant.session)
    }

    /// Submits an intent as a command of the tenant `default`.
    ///
    /// - Throws: `LedgerFault`.
    package func submit(
        _ intent: Command.Intent, trace: TraceContext? = nil
    ) async throws(LedgerFault) -> Result<Reply, Refusal> {
        var generator = SeededGenerator(seed: UInt64.random(in: 0...(.max)))
        return try await sequencer.submit(
            Command(
                id: generator.id(), tenant: .default,
                origin: Command.Origin(
                    request: nil, clientIP: "203.0.113.7", userAgent: nil, trace: trace),
                intent: intent))
    }

    /// Reads a tenant's whole log with SQL and decodes it.
    ///
    /// - Throws: an error of reading or decoding.
    package func log(of tenant: TenantID = .default) async throws -> [StoredEvent] {
        let session = Postgres.Session(url: database.superuserURL, applicationName: "fixture")
        return try await session.run { connection in
            let rows = try connection.query(
                Statement(
                    "fixture_log",
                    "SELECT position, entry FROM events WHERE tenant_id = $1::text ORDER BY position"
                ),
                [.text(tenant.description)])
            return try (0..<rows.rowCount).map { row in
                try StoredEvent(
                    entry: try rows.bytes(row, 1), at: LogPosition(try rows.int8(row, 0)),
                    in: tenant)
            }
        }
    }
}

/// Collects the reports from the sequencer's own thread.
private final class FaultList: Sendable {
    private let faults = Mutex<[String]>([])

    var all: [String] { faults.withLock(\.self) }

    func add(_ fault: String) {
        faults.withLock { $0.append(fault) }
    }
}

extension SymmetricKey {
    /// Creates a key for tests.
    fileprivate init(repeating byte: UInt8) {
        guard let key = SymmetricKey(bytes: Array(repeating: byte, count: 32)) else {
            preconditionFailure("a key has 32 bytes")
        }
        self = key
    }
}
