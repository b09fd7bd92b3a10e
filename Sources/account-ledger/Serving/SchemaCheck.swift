import CommandLine
import LedgerPostgres
import Postgres

/// The check that the database has this binary's schema.
enum SchemaCheck {
    /// Passes a connection to the body after the schema check.
    ///
    /// - Throws: `Fault` with one line when the database can't be reached or has another schema.
    static func withConnection<Value>(
        to url: String, named setting: Setting = .databaseURL,
        _ body: (Connection) throws -> Value
    ) throws(Fault) -> Value {
        do {
            let connection = try Connection(url: url, applicationName: "account-ledger start")
            defer { connection.close() }
            try connection.refuseTransactionPooling(url: url)
            if let problem = problem(try Migrator.status(of: connection)) { throw Fault(problem) }
            return try body(connection)
        } catch let fault as Fault {
            throw fault
        } catch let refusal as TenantRefusal {
            throw Fault(refusal.description)
        } catch {
            throw Fault("\(setting.name): \(error)")
        }
    }

    /// Returns one line about another schema; nil for the current one.
    static func problem(_ status: SchemaStatus) -> String? {
        switch status {
        case .current:
            nil
        case .missing:
            "the database has no ledger yet: run \(Syntax.program) migrate"
        case .behind(let from, let to):
            "the schema has version \(from), this binary requires \(to): run \(Syntax.program) migrate"
        case .newer(let version):
            "the schema has version \(version), which is newer than this binary"
        case .differs(let version):
            "migration \(version) of the database differs from this binary's"
        }
    }
}
