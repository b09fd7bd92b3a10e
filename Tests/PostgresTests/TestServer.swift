import Foundation
import Postgres
import Testing

/// The server under test, from `TEST_DATABASE_URL`.
enum TestServer {
    struct Missing: Error, CustomStringConvertible {
        let description =
            "TEST_DATABASE_URL must hold a libpq URL of a login that may create databases"
    }

    static func url() throws -> String {
        guard let url = ProcessInfo.processInfo.environment["TEST_DATABASE_URL"], !url.isEmpty
        else { throw Missing() }
        return url
    }

    /// Returns the URL of the same server with additional libpq parameters.
    static func url(adding parameters: String) throws -> String {
        let url = try url()
        return url + (url.contains("?") ? "&" : "?") + parameters
    }

    /// Returns the server's port, as reported by the server.
    static func port() throws -> String {
        try connect().query(Statement("port", "SELECT current_setting('port')")).text(0, 0)
    }

    /// Opens a connection whose tables are temporary, so that tests do not interfere.
    static func connect(
        statementDeadline: Duration = .seconds(30), _ script: String = ""
    ) throws -> Connection {
        let connection = try Connection(
            url: url(), applicationName: "postgres-tests", connectTimeout: .seconds(20),
            statementDeadline: statementDeadline)
        if !script.isEmpty { try connection.execute(script) }
        return connection
    }

    /// Ends another connection's backend and returns once it is gone.
    static func terminate(_ processID: Int32) throws {
        let result = try connect().query(
            Statement("terminate", "SELECT pg_terminate_backend($1, 20000)"), [.int4(processID)])
        guard try result.bool(0, 0) else {
            throw Unfulfilled(what: "backend \(processID) to end")
        }
    }

    /// An error for a condition that was not met before the deadline.
    struct Unfulfilled: Error, CustomStringConvertible {
        let what: String
        var description: String { "waited in vain for \(what)" }
    }

    /// Polls until the condition holds.
    static func wait(
        for what: String, _ condition: () async throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while try await !condition() {
            guard ContinuousClock.now < deadline else { throw Unfulfilled(what: what) }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}

/// Returns the server's refusal of a body; nil for another error or none.
func refusal(of body: () throws -> Void) -> ServerError? {
    do {
        try body()
        return nil
    } catch {
        guard case .server(let refusal)? = error as? PostgresError else { return nil }
        return refusal
    }
}

/// Returns the SQLSTATE of the error that a body throws; nil for another error or none.
func state(of body: () throws -> Void) -> SQLState? {
    refusal(of: body)?.state
}
