import DurableFiles
import Ledger
import TransparencyLog

extension SealerDirectory {
    /// Which number a name has; the first one has none and counts as 1, as does what is no number of ours.
    static func number(of origin: NoteKeyName, after first: NoteKeyName) -> Int64 {
        let number = Int64(origin.description.dropFirst("\(first)/".count)) ?? 1
        return number < LogPosition.endMax ? number : 1
    }

    /// The number of the name that a tenant's log has now: 1 for the first, 2 after a restore and so on.
    func originNumber(of tenant: TenantID) throws(SealerRecordFault) -> Int64 {
        try explaining {
            let first = try firstOrigin(of: tenant)
            let origin = try origin(of: tenant, in: root.directory(tenant.description))
            return Self.number(of: origin, after: first)
        }
    }
}
