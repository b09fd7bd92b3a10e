package import Ledger
package import LedgerEngine
package import Postgres

/// The disclosures of links that return to an account, as of their creation.
///
/// A link that an undone merge returns is shown with the disclosures of its own `ProviderLinked`
/// and of the sign-in that opened the account with it. Both belong to the account itself; values
/// learned while the accounts were merged are excluded. If the identity is found by an address, its e-mail is that
/// address, which belongs to the account as well and may have changed since the link.
package struct LinkedDisclosures: Sendable {
    private var values: [LogPosition: Result<DisclosedValues, LogDamage>] = [:]
    /// The first account of each event that was read, with or without its disclosures.
    package private(set) var accounts: [LogPosition: AccountID] = [:]

    /// Detects an undone merge without decoding the entry: nearly no page contains one.
    private static let unmergeMarker = Array(
        "\"type\":\"\(Event.Name.accountsUnmerged.rawValue)\"".utf8)

    private static let addresses = Statement(
        "linked_addresses",
        """
        SELECT a.address_id, a.account_id, a.position
        FROM unnest($2::uuid[]) AS k (address_id)
        CROSS JOIN LATERAL (
            SELECT address_id, account_id, position FROM addresses
            WHERE tenant_id = $1 AND address_id = k.address_id
            OFFSET 0) a
        """)

    /// Reads the disclosures of the links that undone merges among some entries return.
    package static func read(
        for entries: [[UInt8]], from first: LogPosition, in tenant: TenantID,
        with disclosures: DisclosureReader, on connection: Connection
    ) throws(PostgresError) -> LinkedDisclosures {
        var returned: [LogPosition: LogPosition] = [:]
        for entry in entries where entry.suffix(unmergeMarker.count + 9).starts(with: unmergeMarker)
        {
            guard let recorded = try? EntryEncoding.decode(entry) else { continue }
            for link in recorded.linkPositions { returned[link] = recorded.position }
        }
        return try read(returned: returned, in: tenant, with: disclosures, on: connection)
    }

    /// Reads the disclosures of the links that an undone merge returns.
    package static func read(
        for recorded: RecordedEvent, in tenant: TenantID, with disclosures: DisclosureReader,
        on connection: Connection
    ) throws(PostgresError) -> LinkedDisclosures {
        let returned = recorded.linkPositions.map { ($0, recorded.position) }
        return try read(
            returned: Dictionary(returned) { $1 }, in: tenant, with: disclosures, on: connection)
    }

    /// Reads the disclosures of links, each with the position of the undone merge that returns it.
    private static func read(
        returned: [LogPosition: LogPosition], in tenant: TenantID,
        with disclosures: DisclosureReader, on connection: Connection
    ) throws(PostgresError) -> LinkedDisclosures {
        var linked = try read(
            at: Set(returned.keys), in: tenant, with: disclosures, on: connection)
        try linked.replaceEmails(
            ofAddresses: returned, in: tenant, with: disclosures, on: connection)
        return linked
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

    /// Replaces the e-mails of returned identities that are found by an address.
    ///
    /// A later change of the address is folded at its own event. A claim that is confirmed later was one at the undo.
    private mutating func replaceEmails(
        ofAddresses returned: [LogPosition: LogPosition], in tenant: TenantID,
        with disclosures: DisclosureReader, on connection: Connection
    ) throws(PostgresError) {
        // The subject of such an identity is the id of its address.
        var links: [AddressID: [LogPosition]] = [:]
        for link in returned.keys {
            guard let subject = (try? values[link]?.get())?.providerID,
                let address = AddressID(subject)
            else { continue }
            links[address, default: []].append(link)
        }
        guard !links.isEmpty else { return }
        let rows = try connection.query(
            Self.addresses, [.text(tenant.description), .uuids(links.keys.map(\.bits))])
        var found: [(address: AddressID, account: AccountID, position: LogPosition)] = []
        for row in 0..<rows.rowCount {
            found.append(
                (
                    AddressID(bits: try rows.uuid(row, rows.column("address_id"))),
                    AccountID(bits: try rows.uuid(row, rows.column("account_id"))),
                    LogPosition(try rows.int8(row, rows.column("position")))
                ))
        }
        let events = try disclosures.events(
            at: found.map(\.position.value), in: tenant, on: connection)
        for (address, account, position) in found {
            guard let event = try? events[position]?.disclosed.get(),
                let text = event.disclosed.email?.address
            else { continue }
            // A provider's own id may look like the id of another account's address.
            for link in links[address] ?? [] where accounts[link] == account {
                guard let undo = returned[link] else { continue }
                let isVerified: Bool
                switch event.recorded.event {
                case .addressClaimed: isVerified = false
                case .addressConfirmed: isVerified = position < undo
                case .addressChanged where position < undo: isVerified = true
                default: continue
                }
                values[link] = values[link]?.map {
                    $0.replacing(email: Email(text, isVerified: isVerified))
                }
            }
        }
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
