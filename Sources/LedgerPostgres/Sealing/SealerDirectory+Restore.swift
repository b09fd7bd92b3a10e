import DurableFiles
package import Ledger
package import TransparencyLog

extension SealerDirectory {
    /// Lets a log go on after a restore has taken back what was signed: under a new name and key.
    ///
    /// Nothing that was signed is contradicted by it, because the old name signs nothing more. Its last
    /// note stays as `last-signed.N` beside its key. To be called while no sealer works on the tenant, and
    /// harmless when a crash makes it be called twice before the first signature.
    /// - Returns: the new name: the first one with `/2`, then `/3` and so on.
    package func beginNewOrigin(of tenant: TenantID) throws(SealerRecordFault) -> NoteKeyName {
        try explaining {
            let directory = root.directory(tenant.description)
            return try whileLocked(directory) {
                let first = try firstOrigin(of: tenant)
                let origin = try origin(of: tenant, in: directory)
                let number = Int(origin.description.dropFirst("\(first)/".count)) ?? 1
                guard let last = try last(in: directory), last.checkpoint.origin == origin else {
                    return origin
                }
                guard let next = NoteKeyName("\(first)/\(number + 1)") else {
                    throw SealerRecordFault.damaged("'\(first)' can't be the name of a log")
                }
                _ = try directory.create(
                    "last-signed.\(number)", with: Array(last.note.utf8))
                try makeKey(of: next, in: directory)
                return next
            }
        }
    }

    /// What was signed last of a tenant's log, under the name that it has now; nil when nothing was.
    package func lastSigned(of tenant: TenantID) throws(SealerRecordFault) -> LastSigned? {
        try explaining {
            let directory = root.directory(tenant.description)
            guard try directory.names() != nil else { return nil }
            let origin = try origin(of: tenant, in: directory)
            let last = try last(in: directory)
            return last?.checkpoint.origin == origin ? last : nil
        }
    }
}
