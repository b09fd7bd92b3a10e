internal import Cryptography
internal import Encodings

/// The group roles of one database; roles are cluster-wide, so their names include the database's.
package struct LedgerRoles: Sendable, Hashable {
    /// For servers: inserts events, and reads and writes the other tables.
    package let runtime: String
    /// For auditors: reads the log and the read models, without personal data.
    package let auditor: String
    /// For support: reads the read models, including personal data.
    package let support: String
    /// For sealers: reads the log, and inserts hashes and signed checkpoints.
    package let sealer: String

    /// The maximum length of a name; Postgres truncates longer ones, which could then collide.
    private static let nameBytesMax = 63
    private static let digestBytes = 8

    /// Names the roles of a database.
    package init(database: String) {
        runtime = Self.name(database, "_ledger_runtime")
        auditor = Self.name(database, "_ledger_auditor")
        support = Self.name(database, "_ledger_support")
        sealer = Self.name(database, "_ledger_sealer")
    }

    /// All group roles.
    package var all: [String] { [runtime, auditor, support, sealer] }

    /// Returns the database's name, shortened with a digest if needed, followed by the suffix.
    private static func name(_ database: String, _ suffix: String) -> String {
        let room = nameBytesMax - suffix.utf8.count
        guard database.utf8.count > room else { return database + suffix }
        let digest = "_" + Hex.encode(Array(SHA256.hash(Array(database.utf8)).prefix(digestBytes)))
        var start = database[...]
        while start.utf8.count > room - digest.utf8.count { start.removeLast() }
        return start + digest + suffix
    }
}
