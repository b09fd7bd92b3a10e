package import Ledger
package import LedgerEngine
package import Postgres

/// Reads of `events` for auditors on their own connection.
package struct EventReads: EventReader {
    /// The maximum number of positions that one page examines.
    package static let windowMax: Int64 = 20_000

    private static let head = Statement(
        "event_head", "SELECT next_position FROM ledger_head WHERE tenant_id = $1")

    private static let page = pages(.oldest)
    private static let newestPage = pages(.newest)

    /// Filters by the entry, not by the columns derived from it.
    private static func pages(_ order: ReadingOrder) -> Statement {
        Statement(
            "event_page_\(order.rawValue)",
            """
            SELECT position, entry, mac FROM events
            WHERE tenant_id = $1 AND position >= $2 AND position < $3
                AND (SELECT coalesce(bool_and(position(piece in entry) > 0), true)
                    FROM unnest($4::bytea[]) AS pieces (piece))
            ORDER BY position \(order.direction) LIMIT $5
            """)
    }

    private static let eventByTime = Statement(
        "event_by_time",
        """
        SELECT position, entry, mac FROM events
        WHERE tenant_id = $1 AND position >= $2 AND position < $3 AND event_id = $4
        ORDER BY position
        """)

    private static let one = Statement(
        "event_by_id",
        """
        SELECT position, entry, mac FROM events
        WHERE tenant_id = $1 AND event_id = $2 ORDER BY position
        """)

    private static let lastLink = Statement(
        "last_link",
        """
        SELECT linked_position FROM identities
        WHERE last_account_id = $2 AND tenant_id = $1 AND identity_id = $3
        """)

    private let session: Postgres.Session
    private let disclosures: DisclosureReader
    private let fence: SchemaFence
    private let onFault: @Sendable (String) -> Void
    private let alarms = ForgeryAlarms()

    /// Configures the reads; does not connect yet.
    ///
    /// - Parameters:
    ///   - url: The runtime role's URL.
    ///   - keyring: Unwraps the keys of accounts for disclosures.
    ///   - fence: Refuses a schema of another version, since a stream checks its API key only
    ///     occasionally.
    ///   - onFault: Called with one line, free of personal data, for each failed read.
    package init(
        url: String, keyring: WrappingKeyring, fence: SchemaFence = SchemaFence(),
        onFault: @escaping @Sendable (String) -> Void
    ) {
        self.fence = fence
        disclosures = DisclosureReader(keyring: keyring)
        self.onFault = onFault
        session = Session.forReads(url: url, named: "events", seconds: 10)
    }

    /// Closes the connection; the next read opens a new one.
    package func close() async {
        await session.close()
    }

    /// Returns the next events after a position in the order of the query, up to the first that no
    /// server has appended.
    ///
    /// - Throws: `LedgerFault.internalFailure` if that is the first of them.
    package func events(
        matching query: EventQuery, in tenant: TenantID, isDisclosing: Bool
    ) async throws(LedgerFault) -> CursorPage<ShownEvent> {
        do {
            return try await session.run { connection in
                let page = try page(query, in: tenant, isDisclosing: isDisclosing, on: connection)
                try fence.check(try connection.query(SchemaFence.version))
                return page
            }
        } catch is LogDamage {
            throw .internalFailure
        } catch {
            if let reason = OtherSchema.logText(of: error) {
                onFault("reading events failed: \(reason)")
            }
            throw .unavailable
        }
    }

    /// Returns the event with an id; nil if the tenant has none.
    ///
    /// - Throws: `LedgerFault.internalFailure` for an event that no server has appended.
    package func event(
        _ id: EventID, in tenant: TenantID, isDisclosing: Bool
    ) async throws(LedgerFault) -> ShownEvent? {
        do {
            return try await session.run { connection in
                let rows = try Self.rows(of: id, in: tenant, on: connection)
                let (found, forgery) = try authentic(rows, in: tenant, on: connection)
                if found.isEmpty, let forgery { throw forgery }
                let events = try shown(
                    found, named: id, in: tenant, isDisclosing: isDisclosing, on: connection)
                // The column is only derived: several rows may claim to be the event.
                return events.first { $0.damage == nil } ?? events.first
            }
        } catch is LogDamage {
            throw .internalFailure
        } catch {
            onFault("reading an event failed: \(error)")
            throw .unavailable
        }
    }

    /// Returns the disclosures of an identity's last link; nil unless the account was the last to
    /// have it.
    package func formerLink(
        of identity: IdentityID, to account: AccountID, in tenant: TenantID
    ) async throws(LedgerFault) -> FormerLink? {
        do {
            return try await session.run { connection in
                let rows = try connection.query(
                    Self.lastLink,
                    [.text(tenant.description), .uuid(account.bits), .uuid(identity.bits)])
                guard rows.rowCount > 0 else { return nil }
                let position = LogPosition(try rows.int8(0, 0))
                let linked = try LinkedDisclosures.read(
                    at: [position], in: tenant, with: disclosures, on: connection)
                let values = try linked.values(at: position)
                return FormerLink(
                    position: position, providerID: values?.providerID, email: values?.email)
            }
        } catch let damage as LogDamage {
            onFault("reading a link failed: \(damage)")
            throw .internalFailure
        } catch {
            onFault("reading a link failed: \(error)")
            throw .unavailable
        }
    }

    /// Finds an event by its id, which contains the millisecond of its recording.
    ///
    /// The index on ids is useful only where its ranges are summarised, and without statistics the
    /// planner prefers the tenant's whole log; it is therefore used only if the event is not found
    /// by its time.
    private static func rows(
        of id: EventID, in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> QueryResult {
        let rows = try rowsOfTime(of: id, in: tenant, on: connection)
        guard rows.rowCount == 0 else { return rows }
        return try connection.query(one, [.text(tenant.description), .uuid(id.bits)])
    }

    /// Returns the rows with an id among the events of the millisecond in the id.
    package static func rowsOfTime(
        of id: EventID, in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> QueryResult {
        let time = id.madeAt.microseconds
        let start = try TimeSearch.events.first(notBefore: time, in: tenant, on: connection)
        let end = try TimeSearch.events.first(
            notBefore: time + 1_000, in: tenant, on: connection)
        return try connection.query(
            eventByTime,
            [.text(tenant.description), .int8(start), .int8(end), .uuid(id.bits)])
    }

    private func page(
        _ query: EventQuery, in tenant: TenantID, isDisclosing: Bool, on connection: Connection
    ) throws -> CursorPage<ShownEvent> {
        let name = Parameter.text(tenant.description)
        let heads = try connection.query(Self.head, [name])
        // Events below the current head are visible to every later statement.
        let head = heads.rowCount == 1 ? try heads.int8(0, 0) : 0
        let wanted = try TimeSearch.events.range(
            from: query.from, through: query.through, head: head, in: tenant, on: connection)
        let window = LogWindow(
            wanted, query.order, after: query.after?.value, countMax: Self.windowMax)
        let rows = try connection.query(
            query.order == .oldest ? Self.page : Self.newestPage,
            [
                name, .int8(window.start), .int8(window.end),
                .byteArrays(query.fragments.map { Array($0.utf8) }), .int8(Int64(query.limit)),
            ])
        let (found, forgery) = try authentic(rows, in: tenant, on: connection)
        let isShown = { (row: FoundRow) in
            forgery.map { query.order.isAfter($0.position.value, row.position) } ?? true
        }
        let events = try shown(
            found.filter(isShown), disclosingOnly: query.account, in: tenant,
            isDisclosing: isDisclosing,
            on: connection)
        guard let forgery else {
            return window.page(events, limit: query.limit, position: \.position.value)
        }
        guard let last = events.last else { throw forgery }
        return CursorPage(elements: events, cursor: last.position.value, hasMore: true)
    }

    /// A row of the log to show.
    private struct FoundRow {
        let position: Int64
        let entry: [UInt8]
    }

    /// Removes events that no server has appended, and reports the first of them.
    private func authentic(
        _ rows: QueryResult, in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> (found: [FoundRow], forgery: LogDamage?) {
        let protection =
            rows.rowCount == 0
            ? nil
            : try LogProtection.read(of: tenant, checkingWith: disclosures.macs, on: connection)
        var found: [FoundRow] = []
        var forgery: LogDamage?
        for row in 0..<rows.rowCount {
            let (position, entry) = (
                try rows.int8(row, rows.column("position")),
                try rows.bytes(row, rows.column("entry"))
            )
            let mac = try rows.optionalBytes(row, rows.column("mac"))
            do throws(LogDamage) {
                try protection?.check(mac, at: LogPosition(position), leaf: LogDigest.leaf(entry))
                found.append(FoundRow(position: position, entry: entry))
            } catch {
                forgery = forgery ?? error
                if alarms.isNew(error, of: tenant) {
                    onFault("an event of tenant \(tenant) is not shown: \(error)")
                }
            }
        }
        return (found, forgery)
    }

    /// Decodes positions and entries and, on request, their disclosures.
    ///
    /// With an id, any other event is damage; with an account, disclosures about other accounts are
    /// omitted.
    private func shown(
        _ entries: [FoundRow], named id: EventID? = nil, disclosingOnly account: AccountID? = nil,
        in tenant: TenantID, isDisclosing: Bool, on connection: Connection
    ) throws(PostgresError) -> [ShownEvent] {
        var opened = DisclosurePage([], reader: nil)
        if isDisclosing, !entries.isEmpty {
            let found = try connection.pipeline([
                DisclosureReader.call(at: entries.map(\.position), in: tenant)
            ])
            guard let found = found.first else { throw .unexpectedResult("no disclosures") }
            opened = DisclosurePage(try DisclosureReader.rows(found), reader: disclosures)
        }
        return entries.map { row in
            Self.shown(
                row.entry, at: LogPosition(row.position), named: id, in: tenant,
                disclosing: isDisclosing
                    ? { event in
                        let values = try opened.open(event)
                        let mayDisclose = account.map { $0 == event.accounts.first?.id } ?? true
                        return mayDisclose ? values : DisclosedValues()
                    } : nil)
        }
    }

    private static func shown(
        _ entry: [UInt8], at position: LogPosition, named id: EventID?, in tenant: TenantID,
        disclosing open: ((RecordedEvent) throws -> DisclosedValues)?
    ) -> ShownEvent {
        var recorded: RecordedEvent?
        var damage: String?
        var disclosed: [Disclosure]?
        do {
            let event = try StoredEvent(entry: entry, at: position, in: tenant)
            recorded = event.recorded
            if let id, id != event.recorded.id {
                throw LogDamage(
                    position: position, fault: "the entry is of event \(event.recorded.id)")
            }
            disclosed = try open?(event.recorded).values.map { Disclosure($0.name, $0.value) }
        } catch {
            damage = (error as? LogDamage)?.fault ?? "it cannot be read"
        }
        return ShownEvent(
            position: position, entry: entry, recorded: recorded, damage: damage,
            disclosures: disclosed)
    }
}
