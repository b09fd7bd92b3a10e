import Ledger
import LedgerEngine

/// Compares the final contents of the tables with the replay of the log.
struct RowCheck {
    private let replay: TenantReplay
    private let rows: TenantRows
    private let world: World

    init(_ world: World, _ replay: TenantReplay) {
        self.world = world
        self.replay = replay
        rows = world.database.tenants[replay.tenant] ?? TenantRows()
    }

    var contradictions: [String] {
        let differences =
            [
                rows.nextPosition == replay.state.ledger.nextPosition ? nil : "ledger_head",
                accountsDiffer ? "accounts" : nil,
                mergesDiffer ? "merges" : nil,
                erasuresDiffer ? "erasures" : nil,
                rows.rules == replay.state.ledger.rules ? nil : "rules",
                identitiesDiffer ? "identities" : nil,
                Set(rows.addresses.values) == Set(replay.state.ledger.addresses.values)
                    ? nil : "addresses",
                factorsDiffer ? "factors" : nil,
                passwordsDiffer ? "passwords" : nil,
                sessionsDiffer ? "sessions" : nil,
                rows.attempts.filter { !$0.value.isEmpty } == replay.state.attempts
                    ? nil : "attempts",
                answersDiffer ? "idempotency_records" : nil,
            ].compactMap(\.self).map { "\($0) of \(replay.tenant) is not the fold of its log" }
        return differences + readModelDifferences
    }

    private var accountsDiffer: Bool {
        rows.accounts
            != replay.state.ledger.accounts.filter { $0.value.erasedPosition == nil }
            .mapValues { $0.with(links: [], holds: $0.holds) }
    }

    private var mergesDiffer: Bool {
        rows.merges.values.sorted { $0.position < $1.position }
            != replay.state.ledger.accounts.values.flatMap(\.merges)
            .sorted { $0.position < $1.position }
    }

    private var erasuresDiffer: Bool {
        rows.erased != replay.state.ledger.accounts.compactMapValues(\.erasedPosition)
    }

    private var identitiesDiffer: Bool {
        var expected: [Subject: Identity] = [:]
        for (subject, id) in replay.state.directory {
            expected[subject] = replay.state.ledger.identities[id]
        }
        return rows.identities != expected
    }

    private var sessionsDiffer: Bool {
        rows.sessions.mapValues(\.session) != replay.state.ledger.sessions
            || rows.sessions.mapValues(\.tokens) != replay.state.refreshTokens
    }

    private var factorsDiffer: Bool {
        rows.heldFactors
            != Dictionary(
                uniqueKeysWithValues: replay.state.ledger.factors.map { id, factor in
                    (
                        id,
                        TenantRows.FactorRow(
                            factor: factor, counter: replay.state.factorCounters[id] ?? 0,
                            key: replay.state.factorKeys[id])
                    )
                })
    }

    /// Whether passwords and passkeys differ, without those of erased identities, which are destroyed later.
    private var passwordsDiffer: Bool {
        let state = replay.state
        let known = Set(rows.identities.values.map(\.id))
        let expected = state.ledger.passwords.filter { known.contains($0.key) }
        return rows.passwords.filter { known.contains($0.key) } != expected
            || rows.passkeyCounts.filter { known.contains($0.key) }
                != state.passkeyCounts.filter { expected[$0.key] != nil }
    }

    private var answersDiffer: Bool {
        rows.answers != replay.answers
    }

    private var readModelDifferences: [String] {
        MemoryProjections.tables.compactMap { table in
            let partition = world.projections.partition(replay.tenant, table)
            let location = "\(table) of \(replay.tenant)"
            if let failure = partition.failure { return "\(location) has stopped: \(failure)" }
            guard partition.position == replay.state.ledger.nextPosition else {
                return "\(location) is at \(partition.position)"
            }
            switch table.projection {
            case .userProviders:
                return partition.userProviders == replay.userProviders
                    ? nil : "\(location) is not the fold of the log"
            case .accountAudit:
                let lines = partition.audit.mapValues { rows in
                    rows.map {
                        TenantReplay.AuditLine(
                            position: $0.position, event: $0.event,
                            providersBefore: $0.providersBefore,
                            providersAfter: $0.providersAfter, clientIP: $0.clientIP)
                    }
                }
                return lines == replay.audit ? nil : "\(location) is not the fold of the log"
            case .conflicts:
                var fold = ConflictFold()
                for recording in replay.log {
                    guard (try? fold.apply(recording.recorded)) != nil else {
                        return "\(location) can't be folded"
                    }
                }
                let rows = partition.conflicts.sorted { $0.key < $1.key }.map(\.value)
                return rows == fold.conflicts
                    ? nil : "\(location) is not the fold of the log"
            }
        }
    }
}
