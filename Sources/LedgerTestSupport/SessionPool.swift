package import Postgres
internal import Synchronization

/// The sessions that a test uses one after another: a new connection takes Postgres longer than most statements.
///
/// Each call has a session for itself, with the settings, the role and the locks of a new one. Prepared statements
/// stay, and so does what Postgres has read of the catalogue: a test that changes the rows of catalogues needs a
/// pool of its own for each session.
package final class SessionPool: Sendable {
    private static let reset = """
        RESET SESSION AUTHORIZATION;
        RESET ALL;
        UNLISTEN *;
        DISCARD TEMP;
        SELECT pg_catalog.pg_advisory_unlock_all();
        \(Connection.initialSettings)
        """

    private let idle = Mutex<[String: [Session]]>([:])

    /// Creates a pool without sessions.
    package init() {}

    /// Runs the body with a connection, on its session's thread.
    ///
    /// - Throws: the body's error, or `PostgresError` if there is no connection.
    package func run<Value: Sendable>(
        _ url: String, _ body: @escaping @Sendable (Connection) throws -> Value
    ) async throws -> Value {
        let session =
            idle.withLock { $0[url]?.popLast() }
            ?? Session(url: url, applicationName: "test console")
        let result: Result<Value, any Error>
        do {
            result = .success(try await session.run(body))
        } catch {
            result = .failure(error)
        }
        if (try? await session.run { try $0.execute(Self.reset) }) != nil {
            idle.withLock { $0[url, default: []].append(session) }
        }
        return try result.get()
    }

    /// Closes the sessions that are in no call.
    func close() async {
        let sessions = idle.withLock { idle in
            defer { idle = [:] }
            return idle.values.flatMap(\.self)
        }
        for session in sessions { await session.close() }
    }
}
