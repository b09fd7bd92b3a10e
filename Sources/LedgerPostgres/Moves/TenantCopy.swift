package import Ledger
package import LedgerEngine
package import Postgres

/// The copy of one tenant from a database into another one, each Postgres alone or Citus.
///
/// The rows that are only added are copied while the tenant is served. Then it stops at the source, by a mark that
/// each batch reads under the lock of the head; what is left is copied, and all rows are compared. A copy that was
/// interrupted continues with what the destination has. Until ``activate()`` the destination has a mark, too, so that
/// nothing serves or seals half a tenant; the source is marked before that, and never serves it again.
package final class TenantCopy {
    /// The bytes that are sent to the destination at once.
    private static let chunkBytes = 4 * 1024 * 1024
    /// How long a transaction may go on that began before the tenant stopped.
    private static let patience = Duration.seconds(60)
    /// How often the rest is copied before it counts as different: once, and after late writes.
    private static let passesMax = 4
    static let settings = """
        SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = '30s';
        SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET bytea_output = 'hex'; SET jit = off
        """

    private let tenant: TenantID
    private let run: UInt128
    private let source: Connection
    private let target: Connection
    private let names: (source: String, target: String)
    private let tables: [TenantTable]
    /// Whether the tenant was stopped.
    private var hasStopped = false
    /// The rows of each table up to which both sides were compared, as conditions.
    private var compared: [String: String] = [:]

    /// Checks both databases, and marks the tenant as arriving at the destination.
    ///
    /// - Parameters:
    ///   - tenant: The tenant.
    ///   - source: A connection of the owner of the tables.
    ///   - target: The same there.
    ///   - run: The number of this run, unlike that of any other.
    /// - Throws: `TenantCopyFault`, or `PostgresError`.
    package init(
        _ tenant: TenantID, from source: Connection, to target: Connection, run: UInt128
    ) throws {
        (self.tenant, self.source, self.target, self.run) = (tenant, source, target, run)
        try source.execute(Self.settings)
        try target.execute(Self.settings)
        names = (
            source: try DatabaseIdentity.read(on: source),
            target: try DatabaseIdentity.read(on: target)
        )
        guard names.source != names.target else { throw TenantCopyFault.sameDatabase }
        guard try MoveRows.size(of: tenant, on: source) != nil else {
            throw TenantCopyFault.unknownTenant
        }
        let here = try TenantMove.of(tenant, on: source)
        if let here,
            here.peer != names.target || here.state == .arriving || here.state == .discarded
        {
            throw TenantCopyFault.elsewhere(here)
        }
        hasStopped = here != nil
        tables = try TenantTable.all(from: source, to: target)
        let there = try TenantMove.of(tenant, on: target)
        switch there {
        case let move? where here != nil && move.leadsOn(from: names.source):
            // It was activated, and moved on from there: nothing else can end the move here.
            try Self.markAgain(tenant, in: source, movedTo: target)
            throw TenantCopyFault.active
        case let move? where move.state != .arriving || move.peer != names.source:
            throw TenantCopyFault.elsewhere(move)
        case nil where try isKnown():
            guard here != nil else { throw TenantCopyFault.exists }
            // It was activated, which the source does not know after a crash or a restore.
            try Self.markAgain(tenant, in: source, movedTo: target)
            throw TenantCopyFault.active
        default: break
        }
        guard try MoveRows.hasPendingErasure(tenant, on: source) == false else {
            // Its servers end it; nothing does while the tenant is stopped.
            if let here, here.state == .leaving {
                _ = try MoveRows.unmark(tenant, .leaving, run: here.run, on: source)
            }
            throw TenantCopyFault.erasing
        }
        // A mark that is gone by now was removed because the copy was activated.
        let isMarked =
            try there == nil
            ? MoveRows.mark(tenant, .arriving, peer: names.source, run: run, on: target)
            : MoveRows.takeOver(tenant, .arriving, peer: names.source, run: run, on: target)
        guard isMarked else { throw TenantCopyFault.superseded }
        // A server there may have begun a log of the name just before.
        guard try MoveRows.size(of: tenant, on: target) == nil || hasOwnHead() else {
            _ = try MoveRows.unmark(tenant, .arriving, run: run, on: target)
            throw TenantCopyFault.exists
        }
    }

    /// Whether any table of the destination has rows of the tenant.
    private func isKnown() throws -> Bool {
        for table in tables {
            let sums = try table.last(of: tenant, by: "tenant_id", on: target)
            if sums != nil { return true }
        }
        return false
    }

    /// Whether the head there is the one that an earlier run has copied: its log begins with the same event.
    private func hasOwnHead() throws -> Bool {
        guard let events = TenantTable.events else { return false }
        let first = "AND position = 0"
        return try events.sums(of: tenant, inTarget: true, where: first, on: target)
            == events.sums(of: tenant, inTarget: false, where: first, on: source)
    }

    /// Whether an earlier run has stopped the tenant here.
    package var isStopped: Bool {
        get throws { try TenantMove.of(tenant, on: source) != nil }
    }

    /// Whether an earlier run has marked the tenant as moved, so that only ``activate()`` is left.
    package var isMoved: Bool {
        get throws { try TenantMove.of(tenant, on: source)?.state == .moved }
    }

    /// Copies the rows that are only added, and compares them.
    ///
    /// - Returns: The number of events that the destination lacked.
    /// - Throws: `TenantCopyFault.differs`, or `PostgresError`.
    package func copyAhead() throws -> Int64 {
        let before = try eventsThere()
        for table in tables where table.rule.isAhead {
            try copyAdded(table)
            try compareAdded(table)
        }
        return try eventsThere() - before
    }

    private func eventsThere() throws -> Int64 {
        guard let events = TenantTable.events else { return 0 }
        let last = try events.last(of: tenant, by: "position", on: target)
        return (last.flatMap { Int64($0) } ?? -1) + 1
    }

    /// Stops the tenant at the source: no batch, look for work or lease that begins later has it.
    ///
    /// - Throws: `TenantCopyFault.superseded` if it is being copied to another database, or `PostgresError`.
    package func stop() throws {
        guard
            try MoveRows.stop(tenant, .leaving, peer: names.target, run: run, on: source)
        else { throw TenantCopyFault.superseded }
        hasStopped = true
    }

    /// Waits until processes have noticed the mark, and transactions that began before it have ended.
    ///
    /// - Throws: `TenantCopyFault` after ending the stop, if an erasure is unfinished or a transaction does not end.
    package func awaitQuiet(noticed: Duration = TenantMove.noticeMax + .seconds(1)) async throws {
        try await Task.sleep(for: noticed)
        do {
            let start = ContinuousClock.now
            let engine = try DatabaseEngine(of: source)
            // Snapshots of the coordinator know no transactions of workers, where statements end after this time.
            if engine == .citus { try await Task.sleep(for: .seconds(10)) }
            let last = try MoveRows.newTransaction(on: source)
            while try MoveRows.hasTransactions(upTo: last, on: source) {
                guard ContinuousClock.now - start < Self.patience else {
                    throw TenantCopyFault.busy
                }
                try await Task.sleep(for: .milliseconds(50))
            }
            guard try !MoveRows.hasPendingErasure(tenant, on: source) else {
                throw TenantCopyFault.erasing
            }
        } catch let fault as TenantCopyFault {
            _ = try MoveRows.unmark(tenant, .leaving, run: run, on: source)
            throw fault
        }
    }

    /// Copies what is left of a stopped tenant, and compares all rows.
    ///
    /// An attempt to send a message, for one, goes on without a transaction, and may end meanwhile: what differs is
    /// copied again.
    ///
    /// - Throws: `TenantCopyFault.differs`, or `PostgresError`.
    package func copyRest() throws {
        let rest = tables.filter { !$0.rule.isAppended }
        var differing = try rest.filter { table in
            guard table.rule.isAhead else { return true }
            try copyAdded(table)
            return try !isEqual(table)
        }
        for _ in 0..<Self.passesMax {
            for table in tables where table.rule.isAppended {
                try copyAdded(table)
                try compareAdded(table)
            }
            for table in differing { try replace(table) }
            // All of them: a late write may have changed rows of several.
            differing = try rest.filter { try !isEqual($0) }
            if differing.isEmpty { return }
        }
        throw TenantCopyFault.differs(differing.map(\.name).joined(separator: ", "))
    }

    /// Reads the size and the Merkle root of the log on both sides.
    ///
    /// - Parameter keys: Authenticate the events.
    /// - Returns: The root, the same on both.
    /// - Throws: `TenantCopyFault.differs`, `LogDamage`, or `PostgresError`.
    package func root(keys: MACKeys) throws -> KeyRotated.Prefix {
        let prefix = try LogRoot.read(of: tenant, keys: keys, on: source).prefix
        guard try LogRoot.read(of: tenant, keys: keys, on: target).prefix == prefix else {
            throw TenantCopyFault.differs("events")
        }
        return prefix
    }

    /// Marks the tenant as moved at the source.
    ///
    /// - Throws: `TenantCopyFault.superseded`, or `PostgresError`.
    package func markMoved() throws {
        guard try MoveRows.finish(tenant, run: run, on: source) else {
            throw TenantCopyFault.superseded
        }
    }

    /// Lets the destination serve and seal the tenant, which the source never will again, and then notes it there.
    package func activate() throws {
        // The lock keeps an end of the move waiting, which would let the source serve as well.
        try source.transaction {
            guard let move = try MoveRows.lock(tenant, on: source), move.state == .moved,
                move.peer == names.target,
                try MoveRows.unmark(tenant, .arriving, run: run, on: target)
            else { throw TenantCopyFault.superseded }
            _ = try MoveRows.takeOver(
                tenant, .moved, peer: move.peer, run: TenantMove.activated, on: source)
        }
    }

    // MARK: - Rows

    /// Copies the rows after those that the destination has.
    private func copyAdded(_ table: TenantTable) throws {
        switch table.rule {
        case .appended(let column, let within?):
            for part in try table.parts(of: tenant, by: within, on: source) {
                let condition = "AND \(within) = \(quoteLiteral(part))"
                let last = try table.last(of: tenant, by: column, condition, on: target)
                try copy(
                    table, "\(condition) \(Self.after(last, column)) ORDER BY \(column)")
            }
        case .appended(let column, nil):
            let last = try table.last(of: tenant, by: column, on: target)
            // Rows after the head are no events: a server's login can insert them.
            let limit = table.name == "events" ? "AND position < \(try size())" : ""
            try copy(table, "\(Self.after(last, column)) \(limit) ORDER BY \(column)")
        case .erasable(let column):
            let last = try table.last(of: tenant, by: column, on: target)
            // Some rows of the last position may be missing.
            if let last {
                try write { try table.delete(tenant, "AND \(column) = \(last)", on: target) }
            }
            let rest = last.map { "AND \(column) >= \($0) " } ?? ""
            try copy(table, rest + "ORDER BY \(column)")
        case .whole, .progress, .left: break
        }
    }

    private func size() throws -> Int64 {
        guard let size = try MoveRows.size(of: tenant, on: source) else {
            throw TenantCopyFault.unknownTenant
        }
        return size
    }

    private static func after(_ last: String?, _ column: String) -> String {
        last.map { "AND \(column) > \(quoteLiteral($0))" } ?? ""
    }

    /// Compares the rows of a table whose rows are only added; those compared before are left out.
    private func compareAdded(_ table: TenantTable) throws {
        guard case .appended(let column, let within) = table.rule else { return }
        var condition = compared[table.name] ?? ""
        let last = within == nil ? try table.last(of: tenant, by: column, on: target) : nil
        if table.name == "events" {
            condition += " AND position < \(hasStopped ? try size() : try eventsThere())"
        } else if !hasStopped {
            // Rows that were added since are compared in the next pass.
            guard within == nil else { return }
            condition += last.map { " AND \(column) <= \(quoteLiteral($0))" } ?? " AND false"
        }
        guard
            try table.sums(of: tenant, inTarget: true, where: condition, on: target)
                == table.sums(of: tenant, inTarget: false, where: condition, on: source)
        else { throw TenantCopyFault.differs(table.name) }
        if within == nil { compared[table.name] = Self.after(last, column) }
    }

    private func isEqual(_ table: TenantTable) throws -> Bool {
        try table.sums(of: tenant, inTarget: true, on: target)
            == table.sums(of: tenant, inTarget: false, on: source)
    }

    /// Copies all rows in place of those there.
    private func replace(_ table: TenantTable) throws {
        try write {
            try table.delete(tenant, on: target)
            try copy(table, table.wholeCondition) { try $0() }
        }
    }

    private func copy(_ table: TenantTable, _ condition: String) throws {
        try copy(table, condition) { try write($0) }
    }

    private func copy(
        _ table: TenantTable, _ condition: String, write: (() throws -> Void) throws -> Void
    ) throws {
        var rows = CopyRows()
        try source.copyRows(table.copyOut(tenant, condition)) { row in
            rows.append(row)
            guard rows.byteCount >= Self.chunkBytes else { return }
            try write { try target.copyIn(table.copyIn, &rows) }
            rows.removeAll()
        }
        if rows.count > 0 { try write { try target.copyIn(table.copyIn, &rows) } }
    }

    /// Changes rows of the destination in a transaction, during which no other run can take over.
    ///
    /// A run that another one has followed may go on after that has ended, when the tenant is served there.
    private func write(_ body: () throws -> Void) throws {
        try target.transaction {
            guard try MoveRows.hold(tenant, run: run, on: target) == .arriving else {
                throw TenantCopyFault.superseded
            }
            try body()
        }
    }
}
