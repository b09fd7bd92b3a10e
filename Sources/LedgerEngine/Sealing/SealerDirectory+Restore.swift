import DurableFiles
package import Ledger
package import TransparencyLog

extension SealerDirectory {
    /// Lets a log continue after a restore has lost signed events: under a new name and key.
    ///
    /// No signature is contradicted by it, because the old name signs nothing more. Its last note remains as
    /// `last-signed.N` beside its key. To be called while no sealer works on the tenant; repeating it after a
    /// crash is harmless.
    ///
    /// - Parameters:
    ///   - tenant: the tenant of the log.
    ///   - wanted: the number of the new name; by default the next one, unless nothing was signed yet under
    ///     the present one.
    /// - Returns: the new name: the first one with `/2`, then `/3` and so on.
    /// - Throws: `SealerRecordFault` when the directory can't be read or written.
    package func beginNewOrigin(
        of tenant: TenantID, number wanted: Int64? = nil
    ) throws(SealerRecordFault) -> NoteKeyName {
        try mappingErrors {
            let directory = root.directory(tenant.description)
            return try whileLocked(directory) {
                let first = try firstOrigin(of: tenant)
                let origin = try origin(of: tenant, in: directory)
                let number = Self.number(of: origin, after: first)
                guard let last = try last(in: directory),
                    wanted.map({ $0 > number }) ?? (last.checkpoint.origin == origin)
                else { return origin }
                guard let next = NoteKeyName("\(first)/\(number + 1)") else {
                    throw SealerRecordFault.damaged("'\(first)' can't be the name of a log")
                }
                _ = try directory.create(
                    "\(Self.lastName).\(number)", with: Array(last.note.utf8))
                try makeKey(of: next, in: directory)
                return next
            }
        }
    }

    /// Returns the last signed checkpoint of a tenant's log under its present name, or nil.
    package func lastSigned(of tenant: TenantID) throws(SealerRecordFault) -> LastSigned? {
        try mappingErrors {
            let directory = root.directory(tenant.description)
            guard try directory.names() != nil else { return nil }
            let origin = try origin(of: tenant, in: directory)
            let last = try last(in: directory)
            return last?.checkpoint.origin == origin ? last : nil
        }
    }

    /// Returns the last signed checkpoint of a tenant's log under its previous name.
    ///
    /// Nil when it still has its first name.
    package func lastSignedBefore(
        of tenant: TenantID
    ) throws(SealerRecordFault) -> LastSigned? {
        let number = try originNumber(of: tenant)
        guard number > 1 else { return nil }
        return try mappingErrors {
            let directory = root.directory(tenant.description)
            return try last(in: directory, "\(Self.lastName).\(number - 1)")
        }
    }

    /// Checks that this directory holds the record of a tenant's log, if the log was ever sealed.
    ///
    /// - Throws: `SealerRecordFault.missing`: an absent record proves nothing.
    package func expectRecord(
        of tenant: TenantID, wasSealed: Bool
    ) throws(SealerRecordFault) {
        try mappingErrors {
            guard try root.names() != nil else {
                throw SealerRecordFault.missing("\(root.path) does not exist")
            }
            let names = try root.directory(tenant.description).names() ?? []
            let holdsKeys = names.contains {
                CheckpointKeyFile.isSigning($0) || CheckpointKeyFile.isRetired($0)
            }
            guard holdsKeys || !wasSealed else {
                throw SealerRecordFault.missing(
                    "\(root.path) holds no key for the log of tenant \(tenant), which was sealed:"
                        + " this is not the directory of its sealer")
            }
        }
    }
}
