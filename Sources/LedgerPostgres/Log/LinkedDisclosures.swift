import Ledger
import Postgres

/// What links that go back to an account disclosed when they were made.
///
/// A link that an undone merge gives back is shown with what its own `ProviderLinked` says, and the sign-in
/// that opened the account with it, which are the account's own: nothing that was learned while the accounts
/// were one.
struct LinkedDisclosures: Sendable {
    private static let entries = Statement(
        "linked_entries",
        "SELECT position, entry FROM events WHERE tenant_id = $1 AND position = ANY ($2::bigint[])")

    private var values: [LogPosition: Result<DisclosedValues, LogDamage>] = [:]
    /// The first account of each event that was read, whether or not its disclosures were.
    private(set) var accounts: [LogPosition: AccountID] = [:]

    /// Looks for an undone merge without reading the entry: nearly no page has one.
    private static let mark = Array("\"type\":\"\(Event.Name.accountsUnmerged.rawValue)\"".utf8)

    /// Reads what the links disclosed that the undone merges among some entries give back.
    static func read(
        for entries: [[UInt8]], from first: LogPosition, in tenant: TenantID,
        with disclosures: DisclosureReader, on connection: Connection
    ) throws(PostgresError) -> LinkedDisclosures {
        var positions: Set<LogPosition> = []
        for entry in entries where entry.suffix(mark.count + 9).starts(with: mark) {
            guard let recorded = try? EntryEncoding.decode(entry) else { continue }
            positions.formUnion(linkPositions(of: recorded))
        }
        return try read(at: positions, in: tenant, with: disclosures, on: connection)
    }

    /// Reads what the links at some positions disclosed.
    static func read(
        at positions: Set<LogPosition>, in tenant: TenantID, with disclosures: DisclosureReader,
        on connection: Connection
    ) throws(PostgresError) -> LinkedDisclosures {
        var linked = LinkedDisclosures()
        guard !positions.isEmpty else { return linked }
        // Behind the link of a new account comes its first sign-in.
        let wanted = positions.flatMap { [$0.value, $0.next.value] }.sorted()
        let results = try connection.pipeline([
            Call(Self.entries, [.text(tenant.description), .int8s(wanted)]),
            DisclosureReader.call(at: wanted, in: tenant),
        ])
        guard results.count == 2 else { throw .unexpectedResult("no links") }
        let rows = try DisclosureReader.rows(results[1])
        var keys = DisclosureReader.KeyCache()
        var events: [LogPosition: Result<DisclosedEvent, LogDamage>] = [:]
        for row in 0..<results[0].rowCount {
            let position = LogPosition(try results[0].int8(row, 0))
            let entry = try results[0].bytes(row, 1)
            let own = rows.filter { $0.position == position }
            do throws(LogDamage) {
                let recorded = try StoredEvent(entry: entry, at: position, in: tenant).recorded
                linked.accounts[position] = recorded.accounts.first?.id
                let disclosed = try disclosures.open(own[...], of: recorded, keys: &keys)
                events[position] = .success(
                    DisclosedEvent(recorded: recorded, disclosed: disclosed))
            } catch {
                events[position] = .failure(error)
            }
        }
        for position in positions {
            let next = try? events[position.next]?.get()
            linked.values[position] = events[position]?.map { values(of: $0, before: next) }
        }
        return linked
    }

    /// What a link disclosed when it was made; the event behind it counts when it is the first sign-in of the
    /// account that was opened with the link, which discloses the e-mail.
    static func values(of link: DisclosedEvent, before next: DisclosedEvent?) -> DisclosedValues {
        var values = link.disclosed
        if let next, case .signedIn = next.recorded.event,
            next.recorded.command == link.recorded.command, values.email == nil
        {
            for disclosure in next.disclosed.email?.disclosures ?? [] { _ = values.add(disclosure) }
        }
        return values
    }

    /// What the links that an event gives back disclosed; empty for any other event.
    ///
    /// - Throws: `LogDamage` when one of them is not to be read.
    func values(of recorded: RecordedEvent) throws(LogDamage) -> [LogPosition: DisclosedValues] {
        var found: [LogPosition: DisclosedValues] = [:]
        for position in Self.linkPositions(of: recorded) {
            switch values[position] {
            case .success(let disclosed): found[position] = disclosed
            case .failure(let damage): throw damage
            case nil: throw LogDamage(position: position, fault: "the link is missing")
            }
        }
        return found
    }

    /// What the link at a position disclosed; nil when nothing was read of it.
    ///
    /// - Throws: `LogDamage` when it is not to be read.
    func values(at position: LogPosition) throws(LogDamage) -> DisclosedValues? {
        try values[position]?.get()
    }

    /// The positions of the `ProviderLinked` of the links that an event gives back.
    static func linkPositions(of recorded: RecordedEvent) -> [LogPosition] {
        guard case .accountsUnmerged(let fact) = recorded.event else { return [] }
        return (fact.returned + fact.restored).map(\.position)
    }
}
