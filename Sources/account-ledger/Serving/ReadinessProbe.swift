import LedgerAPI
import LedgerEngine
import LedgerPostgres
import Postgres

/// Checks whether the service is ready; queries the database at most once a second.
actor ReadinessProbe {
    private static let answerLasts = Duration.seconds(1)

    // Also on in a standby.
    private static let isReadOnly = Statement(
        "is_read_only", "SELECT current_setting('transaction_read_only') = 'on'")

    private static let namesMax = 20

    private let session: Session
    /// The tenants whose logs were damaged at the start.
    private let refused: Readiness.Check
    private let rules: RulesComparison
    private let sequencer: Sequencer
    private let projector: Projector
    private let sealer: Sealer?
    private var last: (at: ContinuousClock.Instant, readiness: Readiness)?
    private var underWay: Task<Readiness, Never>?

    init(
        url: String, refused: [String], rules: RulesComparison, sequencer: Sequencer,
        projector: Projector, sealer: Sealer?
    ) {
        let more = refused.count > Self.namesMax ? " and others" : ""
        // The others are served.
        self.refused = Readiness.Check(
            "tenants", isReady: true,
            detail: refused.isEmpty
                ? nil
                : "the log says why these were refused at the start: "
                    + refused.prefix(Self.namesMax).joined(separator: ", ") + more)
        self.rules = rules
        session = Session(
            url: url, applicationName: "account-ledger readiness", connectTimeout: .seconds(2),
            statementDeadline: .seconds(2))
        self.sequencer = sequencer
        self.projector = projector
        self.sealer = sealer
    }

    /// Checks the database, the schema, the tenants' rules, the sequencer, the projector and the sealer.
    func check() async -> Readiness {
        if let last, ContinuousClock.now - last.at < Self.answerLasts { return last.readiness }
        if let underWay { return await underWay.value }
        let task = Task { await Self.ask(session, refused, rules, sequencer, projector, sealer) }
        underWay = task
        let readiness = await task.value
        underWay = nil
        last = (at: .now, readiness: readiness)
        return readiness
    }

    private static func ask(
        _ session: Session, _ refused: Readiness.Check, _ rules: RulesComparison,
        _ sequencer: Sequencer, _ projector: Projector, _ sealer: Sealer?
    ) async -> Readiness {
        var checks = [refused]
        var progress = "can't read the checkpoints"
        do {
            let (status, isReadOnly) = try await session.run {
                (try Migrator.status(of: $0), try $0.query(Self.isReadOnly).bool(0, 0))
            }
            // The URL may lead to another server now, such as a new primary.
            if isReadOnly { await session.close() }
            let problem = SchemaCheck.problem(status)
            checks.append(
                Readiness.Check(
                    "database", isReady: !isReadOnly, detail: isReadOnly ? "is read-only" : nil))
            checks.append(Readiness.Check("schema", isReady: problem == nil, detail: problem))
            if problem == nil {
                checks.append(try await Self.check(rules, on: session))
                if let status = try await Self.status(of: projector, on: session) {
                    progress = ProjectionProgress.line(status)
                }
            }
        } catch {
            checks.append(Readiness.Check("database", isReady: false, detail: "\(error)"))
        }
        let isFailing = sequencer.isFailing
        checks.append(
            Readiness.Check(
                "commands", isReady: !isFailing,
                detail: isFailing ? "the database executes no commands" : nil))
        checks.append(
            Readiness.Check("projector", isReady: projector.isAlive(), detail: progress))
        if let sealer {
            let statuses = sealer.statuses
            checks.append(
                Readiness.Check(
                    "sealer",
                    // A log that is not signed is no reason to stop serving: see `docs/sealing.md`.
                    isReady: sealer.isAlive() && sealer.isCurrent
                        && (statuses.isEmpty || statuses.contains { !$0.isDown }),
                    detail: SealingProgress.line(statuses, isCurrent: sealer.isCurrent)))
        }
        return Readiness(checks: checks)
    }

    /// Compares the rules of all tenants.
    private static func check(
        _ rules: RulesComparison, on session: Session
    ) async throws -> Readiness.Check {
        do {
            return try await session.run { try rules.check(on: $0) }
        } catch {
            try await requireCitus(on: session, error)
            return Readiness.Check("rules", isReady: true, detail: "a node fails: \(error)")
        }
    }

    /// Reads the progress of the read models; nil while a node of Citus is out of reach.
    private static func status(
        of projector: Projector, on session: Session
    ) async throws -> [ProjectionStatus]? {
        do {
            return try await projector.status()
        } catch {
            try await requireCitus(on: session, error)
            return nil
        }
    }

    /// Throws an error of a query over all tenants again, but on Citus: there a node may be out of reach, and the tenants
    /// of the others are served.
    private static func requireCitus(on session: Session, _ error: any Error) async throws {
        guard try await session.run({ try DatabaseEngine(of: $0) }) == .citus else { throw error }
    }
}
