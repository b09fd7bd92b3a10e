import LedgerPostgres
import Postgres

/// Whether the database's schema is the one that this binary was written for.
enum SchemaCheck {
    /// Connects for a while, once the database has shown that its schema fits.
    ///
    /// - Throws: `Fault` with one line when the database is away or its schema does not fit.
    static func withConnection<Value>(
        to url: String, named setting: Setting = .databaseURL,
        _ body: (Connection) throws -> Value
    ) throws(Fault) -> Value {
        do {
            let connection = try Connection(url: url, applicationName: "account-ledger start")
            defer { connection.close() }
            try connection.refuseSharedSessions(url: url)
            if let problem = problem(try Migrator.status(of: connection)) { throw Fault(problem) }
            return try body(connection)
        } catch let fault as Fault {
            throw fault
        } catch {
            throw Fault("\(setting.name): \(error)")
        }
    }

    /// One line about a schema that does not fit; nil for the current one.
    static func problem(_ status: SchemaStatus) -> String? {
        switch status {
        case .current:
            nil
        case .missing:
            "the database holds no ledger yet: run \(Syntax.program) migrate"
        case .behind(let from, let to):
            "the schema is at version \(from), this binary wants \(to): run \(Syntax.program) migrate"
        case .newer(let version):
            "the schema is at version \(version), newer than this binary"
        case .differs(let version):
            "migration \(version) of the database is not the one this binary carries"
        }
    }
}
