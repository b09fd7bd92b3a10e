import Postgres
import Testing

@Suite struct `Pipelines` {
    static let insert = Statement("insert", "INSERT INTO rows_kept VALUES ($1) RETURNING n")
    static let count = Statement("count", "SELECT count(*) FROM rows_kept")
    static let divide = Statement("divide", "SELECT 1 / $1::int4")
    static let table = "CREATE TEMP TABLE rows_kept (n int8 PRIMARY KEY)"

    @Test func `results come in the order of the calls`() throws {
        let connection = try TestServer.connect(Self.table)
        let results = try connection.pipeline([
            Call(.begin), Call(Self.insert, [.int8(1)]), Call(Self.insert, [.int8(2)]),
            Call(Self.count), Call(.commit),
        ])
        #expect(
            results.map(\.commandTag) == [
                "BEGIN", "INSERT 0 1", "INSERT 0 1", "SELECT 1", "COMMIT",
            ])
        #expect(try results[2].int8(0, 0) == 2)
        #expect(try results[3].int8(0, 0) == 2)
        #expect(!connection.isInTransaction)
    }

    @Test func `an empty pipeline needs no round trip`() throws {
        #expect(try TestServer.connect().pipeline([]).isEmpty)
    }

    @Test func `an error in the middle names its call, undoes all and leaves the pipeline usable`()
        throws
    {
        let connection = try TestServer.connect(Self.table)
        let refusal = try #require(
            refusal {
                _ = try connection.pipeline([
                    Call(Self.insert, [.int8(1)]), Call(Self.divide, [.int4(0)]),
                    Call(Self.insert, [.int8(2)]), Call(Self.divide, [.int4(0)]),
                ])
            })
        #expect(refusal.state == .divisionByZero)
        #expect(refusal.callIndex == 1)
        #expect(connection.isUsable)
        #expect(!connection.isInTransaction)
        let results = try connection.pipeline([
            Call(Self.insert, [.int8(3)]), Call(Self.count), Call(Self.divide, [.int4(1)]),
        ])
        #expect(try results[1].int8(0, 0) == 1)
        #expect(try results[2].int4(0, 0) == 1)
    }

    @Test func `an error skips the COMMIT and leaves the transaction to be rolled back`() throws {
        let connection = try TestServer.connect(Self.table)
        #expect(
            state {
                _ = try connection.pipeline([
                    Call(.begin), Call(Self.insert, [.int8(1)]), Call(Self.divide, [.int4(0)]),
                    Call(.commit),
                ])
            } == .divisionByZero)
        #expect(connection.isInTransaction)
        connection.rollBack()
        #expect(!connection.isInTransaction)
        #expect(try connection.query(Self.count).int8(0, 0) == 0)
    }

    @Test func `a COMMIT that the server turns into a rollback is an error`() throws {
        let connection = try TestServer.connect(Self.table)
        _ = try connection.query(.begin)
        #expect(state { _ = try connection.query(Self.divide, [.int4(0)]) } == .divisionByZero)
        #expect(state { _ = try connection.query(.commit) } == .inFailedTransaction)
        #expect(connection.isUsable)
        #expect(!connection.isInTransaction)
    }

    @Test(arguments: [true, false])
    func `a constraint that fails only at the end is reported`(isExplicit: Bool) throws {
        let connection = try TestServer.connect(
            "CREATE TEMP TABLE late (n int8 UNIQUE DEFERRABLE INITIALLY DEFERRED)")
        let insert = Call(Statement("late", "INSERT INTO late VALUES ($1)"), [.int8(1)])
        let calls = isExplicit ? [Call(.begin), insert, insert, Call(.commit)] : [insert, insert]
        #expect(state { _ = try connection.pipeline(calls) } == .uniqueViolation)
        #expect(connection.isUsable)
        #expect(!connection.isInTransaction)
        let count = try connection.query(Statement("count_late", "SELECT count(*) FROM late"))
        #expect(try count.int8(0, 0) == 0)
    }

    @Test func `eight mebibytes each way do not deadlock`() throws {
        let connection = try TestServer.connect()
        let echo = Statement("echo", "SELECT $1::bytea")
        let block = [UInt8](repeating: 7, count: 256 * 1024)
        let results = try connection.pipeline(
            Array(repeating: Call(echo, [.bytes(block)]), count: 32))
        #expect(results.count == 32)
        for result in results { #expect(try result.bytes(0, 0).count == block.count) }
        #expect(try connection.query(echo, [.bytes([1])]).bytes(0, 0) == [1])
    }

    @Test func `many small calls are answered one by one`() throws {
        let connection = try TestServer.connect()
        let echo = Statement("echo", "SELECT $1::int8")
        let results = try connection.pipeline((0..<2_000).map { Call(echo, [.int8($0)]) })
        #expect(try results.map { try $0.int8(0, 0) } == Array(0..<2_000))
    }

    @Test func `more calls than the limit are refused unsent`() throws {
        let connection = try TestServer.connect()
        let calls = Array(
            repeating: Call(Statement("one", "SELECT 1")), count: Connection.pipelineCallsMax + 1)
        #expect(throws: PostgresError.self) { try connection.pipeline(calls) }
        #expect(connection.isUsable)
    }

    @Test func `a COPY does not block the connection`() throws {
        let connection = try TestServer.connect(statementDeadline: .seconds(10))
        #expect(throws: PostgresError.self) {
            try connection.query(Statement("copy", "COPY (SELECT 1) TO STDOUT"))
        }
        #expect(!connection.isUsable)
    }
}
