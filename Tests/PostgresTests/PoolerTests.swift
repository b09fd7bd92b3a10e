import Testing

@testable import Postgres

/// The detection of poolers, simulated by a function that replaces the one reporting the server
/// process.
@Suite struct PoolerTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let process: String
        let isRefused: Bool
    }

    static let cases = [
        Case(
            testDescription: "none, or a relay of bytes", process: "pg_catalog.pg_backend_pid()",
            isRefused: false),
        Case(
            testDescription: "by session", process: "pg_catalog.pg_backend_pid() + 10000000",
            isRefused: false),
        Case(
            testDescription: "by transaction, without other clients", process: "1",
            isRefused: true),
        Case(
            testDescription: "by transaction, with other clients",
            process: "(random() * 1000000000)::int", isRefused: true),
        Case(
            testDescription: "by transaction, alternating between two",
            process: "(nextval('turns') % 2)::int + 1", isRefused: true),
    ]

    @Test(arguments: cases)
    func `a pooler that assigns connections per transaction is refused`(
        pooler: Case
    ) throws {
        let schema = "pooler_\(UInt64.random(in: 0...(.max)))"
        let maker = try TestServer.connect(
            """
            CREATE SCHEMA \(schema);
            CREATE SEQUENCE \(schema).turns;
            SET search_path = \(schema), pg_catalog;
            CREATE FUNCTION \(schema).pg_backend_pid() RETURNS int LANGUAGE sql
                RETURN \(pooler.process)
            """)
        defer { try? maker.execute("DROP SCHEMA \(schema) CASCADE") }
        let connect = { try TestServer.connect("SET search_path = \(schema), pg_catalog") }
        let connection = try connect()
        let refused = Result { try connection.refuseTransactionPooling(connectingOthers: connect) }
        switch refused {
        case .success: #expect(!pooler.isRefused)
        case .failure(PostgresError.connectionFailed(let reason)):
            #expect(pooler.isRefused && reason.contains("pool by session"))
        case .failure(let error): throw error
        }
        #expect(connection.isUsable)
    }
}
