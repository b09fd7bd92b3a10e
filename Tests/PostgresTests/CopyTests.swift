import Postgres
import Testing

@Suite struct `Copying out` {
    struct Enough: Error {}

    @Test func `rows stream in order and the connection stays usable`() throws {
        let connection = try TestServer.connect()
        var bytes = 0
        var lines = 0
        try connection.copyOut("COPY (SELECT generate_series(1, 100000)) TO STDOUT") { chunk in
            bytes += chunk.count
            lines += 1
        }
        #expect(lines == 100_000)
        #expect(bytes == 588_895)
        #expect(try connection.query(Statement("one", "SELECT 1")).int4(0, 0) == 1)
    }

    @Test func `a refused copy leaves the connection usable`() throws {
        let connection = try TestServer.connect()
        #expect(
            state { try connection.copyOut("COPY nowhere TO STDOUT") { _ in } } == .undefinedTable)
        #expect(
            state {
                try connection.copyOut(
                    "COPY (SELECT 1/(5-g) FROM generate_series(1,9) g) TO STDOUT"
                ) { _ in }
            } == .divisionByZero)
        #expect(try connection.query(Statement("one", "SELECT 1")).int4(0, 0) == 1)
    }

    @Test func `a body that throws closes the connection`() throws {
        let connection = try TestServer.connect()
        #expect(throws: Enough.self) {
            try connection.copyOut("COPY (SELECT generate_series(1, 100000)) TO STDOUT") { _ in
                throw Enough()
            }
        }
        #expect(!connection.isUsable)
    }

    @Test func `copying in is refused`() throws {
        let connection = try TestServer.connect("CREATE TEMP TABLE sink (n int8)")
        #expect(throws: PostgresError.self) {
            try connection.copyOut("COPY sink FROM STDIN") { _ in }
        }
        #expect(!connection.isUsable)
    }
}
