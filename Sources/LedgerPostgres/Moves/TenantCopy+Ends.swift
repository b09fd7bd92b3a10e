package import Ledger
package import Postgres

extension TenantCopy {
    /// Marks the tenant as moved and activated in a database that lacks that: a restored one, or a promoted standby.
    ///
    /// - Parameters:
    ///   - tenant: The tenant.
    ///   - source: A connection of the owner of the tables in the restored database.
    ///   - target: The same in the database that serves the tenant, or from which it was moved on.
    /// - Throws: `TenantCopyFault.notThere` unless the log there begins with the one here, `TenantCopyFault`, or
    ///   `PostgresError`.
    package static func markAgain(
        _ tenant: TenantID, in source: Connection, movedTo target: Connection
    ) throws {
        try source.execute(settings)
        try target.execute(settings)
        let peer = try DatabaseIdentity.read(on: target)
        let here = try DatabaseIdentity.read(on: source)
        guard let size = try MoveRows.size(of: tenant, on: source) else {
            throw TenantCopyFault.unknownTenant
        }
        let first = "AND position < \(size)"
        guard let events = TenantTable.events,
            try TenantMove.of(tenant, on: target)?.leadsOn(from: here) ?? true,
            try MoveRows.size(of: tenant, on: target) ?? 0 >= size,
            try events.sums(of: tenant, inTarget: true, where: first, on: target)
                == events.sums(of: tenant, inTarget: false, where: first, on: source)
        else { throw TenantCopyFault.notThere }
        guard
            try MoveRows.stop(tenant, .moved, peer: peer, run: TenantMove.activated, on: source)
        else { throw TenantCopyFault.superseded }
    }

    /// Lets the source serve the tenant again, if the destination never has.
    ///
    /// The rows there stay, and so does their mark: they can be discarded, or the copy continued.
    ///
    /// The destination of a tenant that is not marked as moved may be gone. One that answers may serve the tenant all
    /// the same: a source that was restored lacks its last mark.
    ///
    /// - Parameters:
    ///   - tenant: The tenant.
    ///   - source: A connection of the owner of the tables.
    ///   - connect: Connects to the destination in the same way.
    ///   - run: The number of this run, unlike that of any other.
    ///   - mayBeGone: Whether a destination that can't be connected to is gone, and never served the tenant.
    /// - Returns: Whether the destination answered.
    /// - Throws: `TenantCopyFault`, `PostgresError`, or the error of `connect`.
    package static func abandon(
        _ tenant: TenantID, from source: Connection, to connect: () throws -> Connection,
        run: UInt128, mayBeGone: Bool
    ) throws -> Bool {
        try source.transaction {
            guard let move = try MoveRows.lock(tenant, on: source),
                move.state == .leaving || move.state == .moved
            else { throw TenantCopyFault.notMoved }
            var target: Connection?
            do {
                target = try connect()
            } catch PostgresError.connectionFailed(_) where move.state == .leaving && mayBeGone {
                target = nil
            }
            defer { target?.close() }
            if let target {
                try target.execute(settings)
                guard try DatabaseIdentity.read(on: target) == move.peer else {
                    throw TenantCopyFault.elsewhere(move)
                }
                let name = try DatabaseIdentity.read(on: source)
                // From here on no earlier run can activate it.
                guard
                    try MoveRows.takeOver(tenant, .arriving, peer: name, run: run, on: target)
                        || move.state == .leaving && MoveRows.size(of: tenant, on: target) == nil
                else { throw TenantCopyFault.active }
            }
            _ = try MoveRows.unmark(tenant, move.state, run: move.run, on: source)
            return target != nil
        }
    }
}
