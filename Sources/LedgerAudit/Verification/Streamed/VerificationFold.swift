import Ledger
import LedgerEngine
import Postgres

/// The fold of the whole log, and the sums of the rows that the tables must hold.
struct VerificationFold {
    private let tenant: TenantID
    /// The number of events in the log.
    private let size: Int64
    /// The tables of read models, each with its next position.
    private let tables: [(table: ProjectionTable, checkpoint: LogPosition)]
    /// The tables of `account_audit`.
    private let audits: [(table: ProjectionTable, checkpoint: LogPosition)]
    /// The tables of `user_providers` whose checkpoint the fold has not reached yet.
    private var links: [(table: ProjectionTable, checkpoint: LogPosition)]
    /// The tables of `conflicts` whose checkpoint the fold has not reached yet.
    private var conflictTables: [(table: ProjectionTable, checkpoint: LogPosition)]
    private var conflicts = ConflictFold()
    private let isPersonal: Bool
    private let progress: @Sendable (VerificationProgress) -> Void
    private var summer: RowSummer
    private(set) var report: VerificationReport
    private(set) var state: CompactState
    /// The rows that the tables must hold.
    private var expected = RowSums()
    /// The rows that the tables hold.
    var stored = RowSums()
    private var personal = PersonalDigests()
    /// The digests of the external ids of the log, in its order; only with keys.
    private var externalIDs: ContiguousArray<UInt64> = []
    /// The live sessions of anonymous identities, whose rows an upgrade changes: only values that the upgrade
    /// does not give, since many sessions expire without an event.
    private var anonymousSessions: [SessionID: AnonymousSession] = [:]

    private struct AnonymousSession {
        let authenticatedAt: Timestamp
        let openedAt: Timestamp
        let openedPosition: LogPosition
    }

    private var merkle: MerkleFold
    private var command: CommandID?
    private var openedByCommand: [AccountID] = []
    private var foldedCount: Int64 = 0
    private var openedCount: Int64 = 0
    private var auditCount: Int64 = 0
    private var disclosureCount: Int64 = 0
    private var erasedCount: Int64 = 0
    private var macCount: Int64 = 0

    init(
        _ tenant: TenantID, size: Int64, report: VerificationReport,
        checkpoints: [(table: ProjectionTable, checkpoint: LogPosition)], summer: RowSummer,
        roots: StatedRoots, progress: @escaping @Sendable (VerificationProgress) -> Void
    ) {
        self.tenant = tenant
        self.size = size
        tables = checkpoints
        audits = checkpoints.filter { $0.table.projection == .accountAudit }
        links = checkpoints.filter { $0.table.projection == .userProviders }
        conflictTables = checkpoints.filter { $0.table.projection == .conflicts }
        for (table, _) in checkpoints {
            expected.projections[table] = RowMultiset()
            stored.projections[table] = RowMultiset()
        }
        self.summer = summer
        merkle = MerkleFold(roots)
        self.progress = progress
        isPersonal = summer.isPersonal
        self.report = report
        state = CompactState(tenant: tenant)
    }

    /// Folds a range; returns false when it does not continue the log.
    mutating func take(_ range: LogRange) -> Bool {
        disclosureCount += range.disclosureCount
        erasedCount += range.erasedCount
        macCount += range.macCount
        for event in range.events {
            addLinksAtCheckpoint()
            addConflictsAtCheckpoint()
            guard take(event) else { return false }
        }
        return merkle.take(range)
    }

    /// Compares the sums; returns false when they differ.
    mutating func end() -> Bool {
        guard endCommand(), merkle.agreesWithRoots else { return false }
        addLinksAtCheckpoint()
        addConflictsAtCheckpoint()
        state.eachAccount { summer.add($0, &expected) }
        state.eachMerge { summer.add($0, &expected) }
        state.eachAddress { summer.add($0, &expected) }
        state.eachName { index, name in
            summer.add(name, id: isPersonal ? externalIDs[index] : nil, &expected)
        }
        state.eachFactor { summer.add($0, &expected) }
        state.eachPassword { summer.addPassword(of: $0, version: $1, &expected) }
        if let rules = state.rules { summer.add(rules, &expected) }
        eachIdentity { summer, sums, identity, personal in
            summer.add(identity, providerID: personal?.providerID, &sums)
        }
        guard expected == stored else { return false }
        count()
        return true
    }

    private mutating func take(_ event: LogRange.Event) -> Bool {
        let recorded = event.recorded
        if command != recorded.command {
            guard endCommand() else { return false }
            command = recorded.command
        }
        let isAudited = audits.contains { recorded.position < $0.checkpoint }
        let before = isAudited ? providers(of: recorded) : []
        guard (try? state.apply(recorded, leaf: event.leaf)) != nil else { return false }
        guard conflictTables.isEmpty || (try? conflicts.apply(recorded)) != nil else {
            return false
        }
        for conflict in conflicts.forgetFinished() { add(conflict, to: conflictTables) }
        note(event)
        for session in state.endedSessions {
            if !anonymousSessions.isEmpty { anonymousSessions[session] = nil }
            summer.end(session, at: recorded.position, &expected)
        }
        if isAudited { addAudit(event, before: before) }
        foldedCount += 1
        if (report.events + foldedCount) % VerificationProgress.eventsPerReport == 0 {
            progress(
                VerificationProgress(
                    tenant: tenant, events: report.events + foldedCount,
                    total: report.events + size))
        }
        return true
    }

    /// Adds the columns that an event gives and no later event changes.
    private mutating func note(_ event: LogRange.Event) {
        if case .accountOpened(let fact) = event.recorded.event {
            openedByCommand.append(fact.account)
            openedCount += 1
            summer.open(fact.account, at: event.recorded.position, &expected)
        }
        if isPersonal, case .accountNamed = event.recorded.event {
            externalIDs.append(event.externalID ?? 0)
        }
        switch event.recorded.event.identityEffect {
        case .linked(let fact):
            guard isPersonal, let number = state.number(of: fact.identity) else { break }
            personal[number] = (providerID: event.providerID ?? 0, email: event.email ?? 0)
        case .signedIn(let fact):
            add(Ledger.Session(fact, at: event.recorded.position, event.recorded.recordedAt))
            guard isPersonal, let email = event.email,
                let number = state.number(of: fact.identity)
            else { break }
            personal[number].email = email
        case .erased(let fact):
            summer.erase(fact.account, event.recorded, &expected)
        case .unmerged(let fact):
            guard isPersonal else { break }
            for link in fact.returned + fact.restored {
                guard let number = state.number(of: link.identity) else { continue }
                let linked = event.linked[link.position]
                personal[number] = (
                    providerID: linked?.providerID ?? 0, email: linked?.email ?? 0
                )
            }
        case .unlinked(let fact):
            if let upgrade = fact.upgrade { replace(upgrade, of: fact) }
        case .merged: break
        case .none:
            guard isPersonal, case .addressChanged(let fact) = event.recorded.event,
                let email = event.email
            else { break }
            // The subject of the identities that use an address is its id.
            let subject = rowDigest(of: fact.address.description, summer.key)
            for link in fact.accounts.flatMap({ state.links(of: $0) ?? [] }) {
                guard let number = state.number(of: link.identity),
                    personal[number].providerID == subject
                else { continue }
                personal[number].email = email
            }
        }
    }

    private mutating func add(_ session: Ledger.Session) {
        summer.add(session, &expected)
        guard session.methods == .anonymous else { return }
        anonymousSessions[session.id] = AnonymousSession(
            authenticatedAt: session.authenticatedAt, openedAt: session.openedAt,
            openedPosition: session.openedPosition)
    }

    private mutating func replace(
        _ upgrade: ProviderUnlinked.Upgrade, of fact: ProviderUnlinked
    ) {
        guard let id = upgrade.session, let known = anonymousSessions.removeValue(forKey: id)
        else { return }
        let former = Ledger.Session(
            id: id, account: fact.account, identity: fact.identity,
            authenticatedAt: known.authenticatedAt, methods: .anonymous, openedAt: known.openedAt,
            openedPosition: known.openedPosition, endedPosition: nil)
        var session = former
        session.upgrade(upgrade)
        summer.replace(former, by: session, &expected)
    }

    private func providers(of recorded: RecordedEvent) -> [[String]] {
        recorded.accounts.map { state.linkedProviders(of: $0.id).map(\.description) }
    }

    private mutating func addAudit(_ event: LogRange.Event, before: [[String]]) {
        for (index, reference) in event.recorded.accounts.enumerated() {
            let after =
                switch event.recorded.event.identityEffect {
                case .linked, .unlinked, .merged, .unmerged, .erased:
                    state.linkedProviders(of: reference.id).map(\.description)
                case .signedIn, .none: before[index]
                }
            let row = AuditRow(
                event.recorded, for: reference, clientIP: event.clientIP, before: before[index],
                after: after)
            let hash = summer.hash(row)
            for (table, checkpoint) in audits where row.position < checkpoint {
                expected.projections[table]?.add(hash)
                auditCount += 1
            }
        }
    }

    /// Checks that every account opened by a command has a way to sign in at the command's end.
    private mutating func endCommand() -> Bool {
        defer { openedByCommand.removeAll(keepingCapacity: true) }
        return openedByCommand.allSatisfy { state.hasLinks($0) }
    }

    /// Adds the rows that `user_providers` must hold once the fold reaches its checkpoint.
    private mutating func addLinksAtCheckpoint() {
        guard let index = links.firstIndex(where: { $0.checkpoint == state.nextPosition }) else {
            return
        }
        let table = links.remove(at: index).table
        eachIdentity { summer, sums, identity, personal in
            let hash = summer.hashLink(
                identity, providerID: personal?.providerID, email: personal?.email)
            if let hash { sums.projections[table]?.add(hash) }
        }
        addLinksAtCheckpoint()
    }

    /// Adds the rows that `conflicts` must hold once the fold reaches its checkpoint.
    private mutating func addConflictsAtCheckpoint() {
        let next = state.nextPosition
        let reached = conflictTables.filter { $0.checkpoint == next }
        guard !reached.isEmpty else { return }
        for conflict in conflicts.followed { add(conflict, to: reached) }
        conflictTables.removeAll { $0.checkpoint == next }
    }

    private mutating func add(
        _ conflict: Conflict, to tables: [(table: ProjectionTable, checkpoint: LogPosition)]
    ) {
        guard !tables.isEmpty else { return }
        let hash = summer.hash(conflict)
        for (table, _) in tables { expected.projections[table]?.add(hash) }
    }

    private mutating func eachIdentity(
        _ body: (
            inout RowSummer, inout RowSums, Identity, (providerID: UInt64?, email: UInt64?)?
        ) -> Void
    ) {
        state.eachIdentity { number, identity in
            var own: (providerID: UInt64?, email: UInt64?)?
            if isPersonal {
                let known = personal[number]
                own = (
                    providerID: known.providerID == 0 ? nil : known.providerID,
                    email: known.email == 0 ? nil : known.email
                )
            }
            body(&summer, &expected, identity, own)
        }
    }

    private mutating func count() {
        report.events += foldedCount
        for check in [VerificationCheck.positions, .columns, .entries, .fold] {
            report.count(check, foldedCount)
        }
        report.count(.macs, macCount)
        report.count(.links, openedCount)
        if isPersonal { report.count(.disclosures, disclosureCount) }
        report.count(.nodes, merkle.hashCount)
        report.count(.checkpoints, merkle.checkpointCount)
        report.signedEvents += merkle.signedSize
        report.erasedDisclosures += erasedCount
        report.count(.accounts, stored.accountStates.count - stored.erasures.count)
        report.count(.erasures, stored.erasures.count)
        report.count(.merges, stored.merges.count)
        report.count(.rules, stored.rules.count)
        report.count(.addresses, stored.addresses.count)
        report.count(.names, stored.names.count)
        report.count(.credentials, stored.credentials.count)
        report.count(.factors, stored.factors.count)
        report.count(.identities, stored.identities.count)
        report.count(.sessions, stored.sessionsOpened.count)
        for (table, rows) in stored.projections where table.projection == .userProviders {
            report.count(.userProviders, rows.count)
        }
        for (table, rows) in stored.projections where table.projection == .conflicts {
            report.count(.conflicts, rows.count)
        }
        report.count(.accountAudit, auditCount)
        report.completeAccounts += openedCount
        for (table, checkpoint) in tables {
            report.add(
                EqualTable(
                    tenant: tenant, projection: table.projection.rawValue, size: checkpoint))
        }
    }
}

extension RowSums {
    /// Adds the sums of another table.
    mutating func merge(_ other: RowSums) {
        accountsOpened.merge(other.accountsOpened)
        accountStates.merge(other.accountStates)
        holds.merge(other.holds)
        absorbed.merge(other.absorbed)
        disabled.merge(other.disabled)
        handedOver.merge(other.handedOver)
        secondFactors.merge(other.secondFactors)
        factors.merge(other.factors)
        merges.merge(other.merges)
        rules.merge(other.rules)
        addresses.merge(other.addresses)
        names.merge(other.names)
        credentials.merge(other.credentials)
        erasures.merge(other.erasures)
        identities.merge(other.identities)
        sessionsOpened.merge(other.sessionsOpened)
        sessionsEnded.merge(other.sessionsEnded)
        for (table, rows) in other.projections {
            projections[table, default: RowMultiset()].merge(rows)
        }
    }
}
