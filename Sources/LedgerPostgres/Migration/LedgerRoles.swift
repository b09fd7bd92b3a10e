internal import Cryptography

/// The group roles of one database; roles are cluster-wide, so their names carry the database's.
package struct LedgerRoles: Sendable, Hashable {
    /// Serves: adds events, and reads and writes everything else.
    package let runtime: String
    /// Reads the log and the read models, without personal data.
    package let auditor: String
    /// Reads the read models with personal data.
    package let support: String
    /// Seals: reads the log, and adds hashes and signed checkpoints beside it.
    package let sealer: String

    /// Bytes that a name may have; Postgres cuts longer ones, and then two could be the same.
    private static let nameBytesMax = 63
    private static let digestBytes = 8

    /// Names the roles of a database.
    package init(database: String) {
        runtime = Self.name(database, "_ledger_runtime")
        auditor = Self.name(database, "_ledger_auditor")
        support = Self.name(database, "_ledger_support")
        sealer = Self.name(database, "_ledger_sealer")
    }

    /// All of them.
    package var all: [String] { [runtime, auditor, support, sealer] }

    /// The database's name, or as much of it as fits and a digest, and then the suffix.
    private static func name(_ database: String, _ suffix: String) -> String {
        let room = nameBytesMax - suffix.utf8.count
        guard database.utf8.count > room else { return database + suffix }
        let digest = "_" + Hex.encode(Array(SHA256.hash(Array(database.utf8)).prefix(digestBytes)))
        var start = database[...]
        while start.utf8.count > room - digest.utf8.count { start.removeLast() }
        return start + digest + suffix
    }
}
