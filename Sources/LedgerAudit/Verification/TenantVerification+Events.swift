import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres

extension TenantVerification {
    /// Checks one row of the log and folds it.
    mutating func take(
        _ page: QueryResult, _ index: Int, at position: LogPosition,
        opened: inout DisclosurePage, on connection: Connection
    ) throws(PostgresError) {
        checkGap(before: position)
        let row: EventRow
        let event: StoredEvent
        do {
            row = try EventRow(page, index)
            event = try row.decoded(in: tenant)
        } catch {
            add(.entries, position, (error as? LogDamage)?.fault ?? "the row cannot be read")
            stopFold(at: position)
            return
        }
        report.count(.columns)
        if let column = row.differingColumn(from: event.recorded) {
            add(.columns, position, "\(column) is not what the entry says")
        }
        report.count(.entries)
        if EntryEncoding.encode(event.recorded) != row.entry {
            add(.entries, position, "the entry is not in canonical form")
        }
        checkMAC(row)
        let disclosed = disclose(event.recorded, from: &opened)
        guard foldFault == nil else { return }
        try fold(event, disclosed, on: connection)
    }

    /// Opens an event's disclosures: each digest must have one, and those required by the event's type must
    /// be among them, unless the account was erased.
    private mutating func disclose(
        _ recorded: RecordedEvent, from opened: inout DisclosurePage
    ) -> DisclosedValues {
        guard disclosures != nil else {
            checkDigestCount(of: recorded)
            return DisclosedValues()
        }
        let digests = recorded.disclosureDigests.count
        report.count(.disclosures, Int64(digests))
        do throws(LogDamage) {
            let rows = opened.rowCount(of: recorded)
            let disclosed = try opened.open(recorded)
            if let erasure = erased[recorded] {
                checkDigestCount(of: recorded)
                report.erasedDisclosures += Int64(digests)
                if erasure.isDestroyed, rows > 0 {
                    add(.erasures, recorded.position, "disclosures of an erased account are left")
                }
                return disclosed
            }
            let withheld = digests - disclosed.count
            let missing = recorded.missingDisclosures(among: disclosed)
                .map(\.rawValue).joined(separator: ", ")
            if withheld > 0 {
                report.withheldDisclosures += Int64(withheld)
                add(
                    .disclosures, recorded.position,
                    "WITHHELD: \(withheld) disclosures are missing and no AccountErased covers them"
                        + (missing.isEmpty ? "" : ": \(missing)"))
            } else if !missing.isEmpty {
                add(
                    .disclosures, recorded.position,
                    "not disclosed: \(missing), as every event of its kind does")
            }
            return disclosed
        } catch {
            add(.disclosures, recorded.position, error.fault)
            return DisclosedValues()
        }
    }

    /// Checks the number of disclosures, the only check possible without their values.
    private mutating func checkDigestCount(of recorded: RecordedEvent) {
        guard let shortfall = recorded.shortfall else { return }
        add(
            .disclosures, recorded.position,
            "the entry commits to \(shortfall.count) disclosures, and every event of its kind to at least"
                + " \(shortfall.required)")
    }

    private mutating func checkGap(before position: LogPosition) {
        report.count(.positions)
        if position > nextPosition {
            let last = LogPosition(position.value - 1)
            add(
                .positions, nextPosition,
                last == nextPosition
                    ? "the event is missing" : "the events up to position \(last) are missing")
            stopFold(at: nextPosition)
        } else if position < nextPosition {
            add(.positions, position, "a log cannot have this position")
            stopFold(at: position)
        }
        nextPosition = LogPosition(position.value &+ 1)
    }

    private mutating func fold(
        _ event: StoredEvent, _ disclosed: DisclosedValues, on connection: Connection
    ) throws(PostgresError) {
        let recorded = event.recorded
        if let finding = command.begin(recorded.command, state: state, position: recorded.position)
        {
            add(.links, finding.0, finding.1)
        }
        let before = AuditCheck.providers(of: recorded, in: state)
        do throws(FoldFault) {
            try state.apply(recorded, leaf: event.leaf)
        } catch {
            add(.fold, recorded.position, error.description)
            stopFold(at: recorded.position)
            return
        }
        do throws(FoldFault) {
            try conflicts?.apply(recorded)
        } catch {
            add(.conflicts, recorded.position, error.description)
            conflicts = nil
        }
        report.count(.fold)
        if case .accountOpened = recorded.event { report.count(.links) }
        if let account = recorded.event.erasedAccount { erasedAt[account] = recorded.recordedAt }
        command.take(recorded)
        personal.take(
            recorded, disclosed, linked: try linked(recorded, on: connection), in: state)
        for index in audits.indices {
            try audits[index].compare(
                recorded, disclosed, before: before, state: state, report: &report,
                on: connection)
        }
    }
}

extension TenantVerification {
    /// Returns the disclosures of the links that an event returns; unreadable ones were reported at their own
    /// events.
    private func linked(
        _ recorded: RecordedEvent, on connection: Connection
    ) throws(PostgresError) -> [LogPosition: DisclosedValues] {
        guard let disclosures else { return [:] }
        let linked = try LinkedDisclosures.read(
            for: recorded, in: tenant, with: disclosures, on: connection)
        return (try? linked.values(of: recorded)) ?? [:]
    }
}

/// Checks at the end of each command that the accounts it opened can be signed in to.
///
/// In between they cannot: an account is opened before its first identity is linked. The fold itself refuses
/// all other events that would leave an account without links.
struct CommandCheck {
    private var command: CommandID?
    private var opened: [AccountID] = []

    /// Ends the previous command, if this event belongs to another one.
    mutating func begin(
        _ next: CommandID, state: LedgerState, position: LogPosition
    ) -> (LogPosition, String)? {
        guard command != next else { return nil }
        command = next
        return end(state: state, position: position)
    }

    mutating func take(_ recorded: RecordedEvent) {
        if case .accountOpened(let fact) = recorded.event { opened.append(fact.account) }
    }

    /// Ends the command whose last event is before this position.
    mutating func end(
        state: LedgerState, position: LogPosition
    ) -> (LogPosition, String)? {
        defer { opened = [] }
        let bare = opened.first { state.accounts[$0]?.links.isEmpty ?? true }
        return bare.map {
            (
                LogPosition(max(0, position.value - 1)),
                "account \($0) has no way to sign in at the end of the command that opened it"
            )
        }
    }
}

/// The disclosures about identities that the log still has.
struct PersonalColumns {
    private(set) var providerIDs: [IdentityID: String] = [:]
    private(set) var emails: [IdentityID: Email] = [:]
    private(set) var externalIDs: [LogPosition: String] = [:]

    /// Adds an event of a state; `linked` holds the original disclosures of the links that it returns.
    mutating func take(
        _ recorded: RecordedEvent, _ disclosed: DisclosedValues,
        linked: [LogPosition: DisclosedValues], in state: LedgerState
    ) {
        switch recorded.event.identityEffect {
        case .unmerged(let fact):
            for link in fact.returned + fact.restored {
                providerIDs[link.identity] = linked[link.position]?.providerID
                emails[link.identity] = linked[link.position]?.email
            }
        case .linked(let fact):
            providerIDs[fact.identity] = disclosed.providerID
            emails[fact.identity] = disclosed.email
        case .signedIn(let fact):
            if let email = disclosed.email { emails[fact.identity] = email }
        case .unlinked, .merged, .erased: break
        case .none:
            if case .accountNamed = recorded.event {
                externalIDs[recorded.position] = disclosed.externalID
            }
            guard case .addressChanged(let fact) = recorded.event, let email = disclosed.email
            else { break }
            // The subject of the identities that use an address is its id.
            let links = fact.accounts.flatMap { state.accounts[$0]?.links ?? [] }
            for link in links where providerIDs[link.identity] == fact.address.description {
                emails[link.identity] = Email(email.address, isVerified: true)
            }
        }
    }
}
