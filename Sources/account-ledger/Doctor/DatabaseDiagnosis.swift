import CommandLine
import Foundation
import LedgerEngine
import LedgerPostgres
import Postgres

/// The checks of `doctor` that ask the database.
struct DatabaseDiagnosis {
    private static let versionMin: Int64 = 150_000
    /// Connections of a process, see docs/operators.md, with some for the command line.
    private static let connectionsMin: Int64 = 50
    private static let clockWarning = 2.0
    private static let clockProblem = 60.0
    private static let migrate = "run \(Syntax.program) migrate"

    private static let settings = Statement(
        "doctor_settings",
        """
        SELECT current_setting('server_version_num')::bigint AS version,
            current_setting('max_connections')::bigint AS connections,
            current_setting('transaction_read_only') = 'on' AS is_read_only,
            current_setting('fsync') = 'on' AS has_fsync,
            current_setting('full_page_writes') = 'on' AS has_full_pages,
            current_setting('synchronous_standby_names') <> '' AND NOT pg_is_in_recovery()
                AND NOT EXISTS (SELECT FROM pg_stat_replication) AS is_alone,
            (SELECT last_failed_wal FROM pg_stat_archiver
                WHERE current_setting('archive_mode') <> 'off'
                    AND last_failed_time > coalesce(last_archived_time, '-infinity')) AS unarchived,
            clock_timestamp() AS now
        """)

    /// The results.
    let found: [Diagnosis]
    /// Whether the database can be asked, and has this binary's schema.
    let isUsable: Bool

    /// Checks the server, the schema, the guards and the projections.
    init(url: String) {
        var found: [Diagnosis] = []
        var isUsable = false
        do throws(PostgresError) {
            let connection = try Connection(url: url, applicationName: "account-ledger doctor")
            defer { connection.close() }
            found = try Self.server(connection)
            if let problem = SchemaCheck.problem(try Migrator.status(of: connection)) {
                found.append(.problem("schema", problem, Self.migrate))
            } else {
                isUsable = true
                found.append(.good("schema", "is this binary's"))
                found.append(try Self.guards(connection))
                found += try Self.projections(connection)
            }
        } catch {
            found.append(
                .problem(
                    "database", "\(error)", "check \(Setting.databaseURL.name) and the server"))
            isUsable = false
        }
        self.found = found
        self.isUsable = isUsable
    }

    private static func guards(_ connection: Connection) throws(PostgresError) -> Diagnosis {
        let guards = try AppendOnlySurvey(connection).guards
        return guards.level >= .separateRoles
            ? .good("guards", guards.sentence)
            : .warning(
                "guards", guards.sentence,
                "use a separate login for \(Setting.databaseURL.name): docs/append-only.md")
    }

    private static func server(_ connection: Connection) throws(PostgresError) -> [Diagnosis] {
        let before = Date.now
        let row = try connection.query(settings)
        let local = before.addingTimeInterval(Date.now.timeIntervalSince(before) / 2)
        var found: [Diagnosis] = []
        let version = try row.int8(0, row.column("version"))
        let name = "Postgres \(version / 10_000).\(version % 10_000)"
        found.append(
            version >= versionMin
                ? .good("server", name)
                : .problem("server", name, "the ledger needs Postgres 15 or later"))
        if try row.bool(0, row.column("is_read_only")) {
            found.append(
                .problem(
                    "server", "is read-only",
                    "name the primary, or several hosts: docs/faults.md#a-failover"))
        }
        for setting in ["fsync", "full_pages"] where try !row.bool(0, row.column("has_\(setting)"))
        {
            let name = setting == "fsync" ? "fsync" : "full_page_writes"
            found.append(
                .problem(
                    "durability", "\(name) is off: a crash can lose what was acknowledged",
                    "set \(name) = on"))
        }
        found += try copies(row)
        let connections = try row.int8(0, row.column("connections"))
        if connections < connectionsMin {
            found.append(
                .warning(
                    "connections", "max_connections is \(connections)",
                    "a process uses up to about 30: raise it to at least \(connectionsMin)"))
        }
        let now = Double(try row.timestamp(0, row.column("now"))) / 1_000_000
        found.append(clock(abs(now - local.timeIntervalSince1970)))
        return found
    }

    /// Checks the copies on other machines: synchronous standbys, and the archive of WAL.
    private static func copies(_ row: QueryResult) throws(PostgresError) -> [Diagnosis] {
        var found: [Diagnosis] = []
        if try row.bool(0, row.column("is_alone")) {
            found.append(
                .problem(
                    "standby", "none is connected, and commits wait for one",
                    "bring a standby back: docs/operating/failover.md#when-it-happens"))
        }
        if let file = try row.optionalText(0, row.column("unarchived")) {
            found.append(
                .warning(
                    "archive", "the last attempt to archive WAL failed, at \(file)",
                    "mend archive_command before WAL fills the disk: docs/operating/backup.md"))
        }
        return found
    }

    /// Compares the clocks of this machine and of the database.
    static func clock(_ difference: Double) -> Diagnosis {
        let text = String(format: "differs from the database's by %.1f s", difference)
        let advice = "synchronise both machines, for example with chrony"
        return difference > clockProblem
            ? .problem("clock", text, advice)
            : difference > clockWarning
                ? .warning("clock", text, advice) : .good("clock", text)
    }

    private static func projections(_ connection: Connection) throws(PostgresError) -> [Diagnosis] {
        let all = try ProjectionStatus.all(on: connection)
        let line = ProjectionProgress.line(all)
        return [
            all.contains { $0.failure != nil }
                ? .problem(
                    "projections", line,
                    "read docs/projections.md: its events can't be folded; nothing is lost")
                : .good("projections", line)
        ]
    }
}
