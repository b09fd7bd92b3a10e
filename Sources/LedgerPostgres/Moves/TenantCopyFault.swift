/// Why a tenant is not copied, or not yet.
package enum TenantCopyFault: Error, Hashable, CustomStringConvertible {
    case unknownTenant
    case sameDatabase
    /// The destination has a tenant of the name that no copy from here has made.
    case exists
    /// It is, or was, copied to or from another database.
    case elsewhere(TenantMove)
    case readModelsDiffer(String)
    case isRebuilding(String)
    case erasing
    /// Transactions that began before the tenant stopped do not end.
    case busy
    /// A table of the log has other rows than those copied.
    case differs(String)
    /// Another run of the command has taken over.
    case superseded
    /// The copy was activated.
    case active
    case notMoved
    /// The last step of the move is not known to have ended.
    case unfinished
    /// The destination's log is not the one that was moved there.
    case notThere

    package var description: String {
        switch self {
        case .unknownTenant: "the tenant does not exist"
        case .sameDatabase: "--to names the database that the tenant is in"
        case .exists: "the destination has a tenant of this name already"
        case .elsewhere(let move): "the tenant \(move.description)"
        case .readModelsDiffer(let name):
            "the read model \(name) has another version there: rebuild it on both sides first"
        case .isRebuilding(let table):
            "an online rebuild of \(table) is under way: end it on both sides first"
        case .erasing:
            "an erasure of the tenant is under way: its servers end it within seconds; then repeat the command"
        case .busy:
            "transactions that began before the tenant stopped have not ended: the tenant is served again;"
                + " repeat the command"
        case .differs(let table): "the rows of \(table) differ on the two sides"
        case .superseded: "another run of this command has taken over"
        case .active:
            "the destination serves the tenant: to move it again, copy it from there to a new database"
        case .notMoved: "the tenant was not moved from here"
        case .unfinished:
            "the destination is not known to serve the tenant: repeat 'tenant copy', which ends the move"
        case .notThere: "the destination does not serve a log that begins with the one here"
        }
    }
}
