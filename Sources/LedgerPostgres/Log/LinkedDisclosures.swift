package import Ledger
package import LedgerEngine
package import Postgres

/// The disclosures of links that return to an account, as of their creation.
///
/// A link that an undone merge returns is shown with the disclosures of its own `ProviderLinked`
/// and of the sign-in that opened the account with it. Both belong to the account itself; values
/// learned while the accounts were merged are excluded.
package struct LinkedDisclosures: Sendable {
    private var values: [LogPosition: Result<DisclosedValues, LogDamage>] = [:]
    /// The first account of each event that was read, with or without its disclosures.
    package private(set) var accounts: [LogPosition: AccountID] = [:]

    /// Detects an undone merge without decoding the entry: nearly no page contains one.
    private static let unmergeMarker = Array(
        "\"type\":\"\(Event.Name.accountsUnmerged.rawValue)\"".utf8)

    /// Reads the disclosures of the links that undone merges among some entries return.
    package static func read(
        for entries: [[UInt8]], from first: LogPosition, in tenant: TenantID,
        with disclosures: DisclosureReader, on connection: Connection
    ) throws(PostgresError) -> LinkedDisclosures {
        var positions: Set<LogPosition> = []
        for entry in entries where entry.suffix(unmergeMarker.count + 9).starts(with: unmergeMarker)
        {
            guard let recorded = try? EntryEncoding.decode(entry) else { continue }
            positions.formUnion(recorded.linkPositions)
        }
        return try read(at: positions, in: tenant, with: disclosures, on: connection)
    }

    /// Reads the disclosures of the links at some positions.
    package static func read(
        at positions: Set<LogPosition>, in tenant: TenantID, with disclosures: DisclosureReader,
        on connection: Connection
    ) throws(PostgresError) -> LinkedDisclosures {
        var linked = LinkedDisclosures()
        guard !positions.isEmpty else { return linked }
        // The link of a new account is followed by its first sign-in.
        let wanted = positions.flatMap { [$0.value, $0.next.value] }.sorted()
        let events = try disclosures.events(at: wanted, in: tenant, on: connection)
        for (position, event) in events { linked.accounts[position] = event.account }
        for position in positions {
            let next = try? events[position.next]?.disclosed.get()
            linked.values[position] = events[position]?.disclosed.map {
                $0.linkDisclosures(before: next)
            }
        }
        return linked
    }

    /// Returns the disclosures of the links that an event returns; empty for any other event.
    ///
    /// - Throws: `LogDamage` if one of them is unreadable.
    package func values(
        of recorded: RecordedEvent
    ) throws(LogDamage) -> [LogPosition: DisclosedValues] {
        var found: [LogPosition: DisclosedValues] = [:]
        for position in recorded.linkPositions {
            switch values[position] {
            case .success(let disclosed): found[position] = disclosed
            case .failure(let damage): throw damage
            case nil: throw LogDamage(position: position, fault: "the link is missing")
            }
        }
        return found
    }

    /// Returns the disclosures of the link at a position; nil if none were read.
    ///
    /// - Throws: `LogDamage` if it is unreadable.
    package func values(at position: LogPosition) throws(LogDamage) -> DisclosedValues? {
        try values[position]?.get()
    }
}
