import LedgerPostgres
import LedgerTestSupport
import Postgres

/// Executes SQL in a database, on its own thread.
struct SQLConsole: Sendable {
    private let session: Session

    init(_ url: String) {
        session = Session(url: url, applicationName: "test console")
    }

    /// Returns the code with which the server refused, or nil when it succeeded.
    func refusal(of sql: String) async throws -> SQLState? {
        do {
            try await session.run { try $0.execute(sql) }
            return nil
        } catch let error as PostgresError {
            guard let state = error.state else { throw error }
            return state
        }
    }

    func with<Value: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Value
    ) async throws -> Value {
        try await session.run(body)
    }

    func execute(_ sql: String) async throws {
        try await session.run { try $0.execute(sql) }
    }

    /// Returns the first column of all rows, which must be text.
    func texts(_ sql: String) async throws -> [String] {
        try await session.run { connection in
            let rows = try connection.query(Statement(sql, sql))
            return try (0..<rows.rowCount).map { try rows.text($0, 0) }
        }
    }

    func status() async throws -> SchemaStatus {
        try await session.run { try Migrator.status(of: $0) }
    }

    func guards(login: String) async throws -> AppendOnlyGuards {
        try await session.run { try AppendOnlyGuards.inspect($0, logins: [login]) }
    }

    /// Migrates on this console's thread, which is not the cooperative pool's.
    func run(_ migrator: Migrator) async throws -> MigrationReport {
        try await session.run { _ in try migrator.migrate() }
    }
}

extension ScratchDatabase {
    var asOwner: SQLConsole { SQLConsole(ownerURL) }
    var asRuntime: SQLConsole { SQLConsole(runtimeURL) }
    var asSuperuser: SQLConsole { SQLConsole(superuserURL) }

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
