import Ledger
import Postgres

extension AccountWalk {
    /// Looks through the log itself for an event of the account between the last one that was visited and
    /// the log's end.
    ///
    /// `accounts` and `account_audit` say that there is none. The serving login may change both; to the
    /// log it may only add.
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
                        fault: "account \(account) goes on here, after what decision state says "
                            + "was its last event")
                }
            }
        }
    }
}
