package import Postgres
internal import Synchronization

/// The sessions of one database that a test uses one after another: a new connection takes Postgres longer
/// than most statements.
///
/// Each call has a session for itself, and finds it as a new one would be.
package final class SessionPool: Sendable {
    private static let asNew = """
        RESET SESSION AUTHORIZATION;
        RESET ALL;
        UNLISTEN *;
        DISCARD TEMP;
        SELECT pg_catalog.pg_advisory_unlock_all()
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
        if (try? await session.run { try $0.execute(Self.asNew) }) != nil {
            idle.withLock { $0[url, default: []].append(session) }
        }
        return try result.get()
    }
}
