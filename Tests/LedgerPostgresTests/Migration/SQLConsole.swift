import LedgerPostgres
import LedgerTestSupport
import Postgres

/// Executes SQL in a database, each call on a thread and a connection for itself.
struct SQLConsole: Sendable {
    private let url: String
    private let sessions: SessionPool

    init(_ url: String, _ sessions: SessionPool = SessionPool()) {
        self.url = url
        self.sessions = sessions
    }

    /// Returns the code with which the server refused, or nil when it succeeded.
    func refusal(of sql: String) async throws -> SQLState? {
        do {
            try await sessions.run(url) { try $0.execute(sql) }
            return nil
        } catch let error as PostgresError {
            guard let state = error.state else { throw error }
            return state
        }
    }

    func with<Value: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Value
    ) async throws -> Value {
        try await sessions.run(url, body)
    }

    func execute(_ sql: String) async throws {
        try await sessions.run(url) { try $0.execute(sql) }
    }

    /// Returns the first column of all rows, which must be text.
    func texts(_ sql: String) async throws -> [String] {
        try await sessions.run(url) { connection in
            let rows = try connection.query(Statement(sql, sql))
            return try (0..<rows.rowCount).map { try rows.text($0, 0) }
        }
    }

    func status() async throws -> SchemaStatus {
        try await sessions.run(url) { try Migrator.status(of: $0) }
    }

    func guards(login: String) async throws -> AppendOnlyGuards {
        try await sessions.run(url) { try AppendOnlyGuards.inspect($0, logins: [login]) }
    }

    /// Migrates on the session's thread, which is not the cooperative pool's.
    func run(_ migrator: Migrator) async throws -> MigrationReport {
        try await sessions.run(url) { _ in try migrator.migrate() }
    }
}

extension ScratchDatabase {
    var asOwner: SQLConsole { SQLConsole(ownerURL, sessions) }
    var asRuntime: SQLConsole { SQLConsole(runtimeURL, sessions) }
    var asSuperuser: SQLConsole { SQLConsole(superuserURL, sessions) }

    /// Returns the SQL of one event of the tenant `default`.
    static func insertEvent(_ position: Int) -> String {
        """
        INSERT INTO public.events (tenant_id, position, event_id, type, schema_version, recorded_at,
            command_id, actor, entry, mac)
        VALUES ('default', \(position), gen_random_uuid(), 'LedgerOpened', 1, now(),
            gen_random_uuid(), 'system', '\\x7b7d',
            decode(repeat('00', 20), 'hex'))
        """
    }
}
