import DurableFiles
import Ledger
import TransparencyLog

extension SealerDirectory {
    /// The number of the name that a tenant's log has now: 1 for the first, 2 after a restore and so on.
    func originNumber(of tenant: TenantID) throws(SealerRecordFault) -> Int64 {
        try explaining {
            let first = try firstOrigin(of: tenant)
            let origin = try origin(of: tenant, in: root.directory(tenant.description))
            return Int64(origin.description.dropFirst("\(first)/".count)) ?? 1
        }
    }
}
