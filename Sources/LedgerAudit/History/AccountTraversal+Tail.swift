import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres

extension AccountTraversal {
    /// Scans the log for an event of the account between the last visited one and the log's end.
    ///
    /// `accounts` and `account_audit` show no later event, but the serving login may change both; to
    /// the log it may only append.
    /// - Throws: `LogDamage` when there is one or the log has a gap, or `PostgresError`.
    func checkTail(before end: Int64) throws {
        let range = lastPosition + 1..<max(lastPosition + 1, end)
        var search = LogSearch(for: account, in: snapshot.tenant, at: range)
        while let positions = try search.positions(on: connection) {
            var rest = positions[...]
            while !rest.isEmpty {
                let page = Array(rest.prefix(LogReader.pageMax))
                rest = rest.dropFirst(page.count)
                for event in try snapshot.events(at: page, on: connection)
                where event.recorded.accounts.contains(where: { $0.id == account }) {
                    throw LogDamage(
                        position: event.recorded.position,
                        fault: "account \(account) continues here, after the event that decision "
                            + "state names as its last")
                }
            }
        }
    }
}
