import Ledger
import Synchronization

/// The authenticated rules of each tenant, by the bytes of their rows.
///
/// Every batch loads the rules, which rarely change: the same bytes are not parsed and authenticated again. There
/// is one entry for each tenant whose commands the process has executed.
final class RulesCache: Sendable {
    private struct Row {
        let body: String
        let mac: [UInt8]
        let rules: RulesSet
    }

    private let rows = Mutex<[TenantID: Row]>([:])

    /// Returns the rules of a row that was authenticated before; nil for other bytes.
    func rules(of tenant: TenantID, body: String, mac: [UInt8]) -> RulesSet? {
        guard let row = rows.withLock({ $0[tenant] }), row.body == body, row.mac == mac else {
            return nil
        }
        return row.rules
    }

    /// Stores the rules of an authenticated row.
    func store(_ rules: RulesSet, of tenant: TenantID, body: String, mac: [UInt8]) {
        rows.withLock { $0[tenant] = Row(body: body, mac: mac, rules: rules) }
    }
}
