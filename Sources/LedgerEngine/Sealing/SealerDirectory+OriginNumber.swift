import DurableFiles
package import Ledger
import TransparencyLog

extension SealerDirectory {
    /// Returns the number of a name; 1 for the first name, which has none, and for foreign names.
    static func number(of origin: NoteKeyName, after first: NoteKeyName) -> Int64 {
        let number = Int64(origin.description.dropFirst("\(first)/".count)) ?? 1
        return number < LogPosition.endMax ? number : 1
    }

    /// Returns the number of a tenant's current log name: 1 for the first, 2 after a restore and so
    /// on.
    package func originNumber(of tenant: TenantID) throws(SealerRecordFault) -> Int64 {
        try mappingErrors {
            let first = try firstOrigin(of: tenant)
            let origin = try origin(of: tenant, in: root.directory(tenant.description))
            return Self.number(of: origin, after: first)
        }
    }
}
