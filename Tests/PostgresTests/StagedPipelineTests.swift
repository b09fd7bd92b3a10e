import Postgres
import Testing

@Suite struct `Pipelines in parts` {
    private struct ChangeOfMind: Error {}

    private static let insert = Pipelines.insert
    private static let count = Pipelines.count

    @Test func `results of all parts are in the order of the calls`() throws {
        let connection = try TestServer.connect(Pipelines.table)
        let results = try connection.pipeline(parts: [
            { [Call(.begin), Call(Self.insert, [.int8(1)])] },
            {
                [Call(Self.insert, [.int8(2)]), Call(Self.count), Call(.commit)]
            },
        ])
        #expect(
            results.map(\.commandTag) == [
                "BEGIN", "INSERT 0 1", "INSERT 0 1", "SELECT 1", "COMMIT",
            ])
        #expect(try results[3].int8(0, 0) == 2)
        #expect(try connection.query(Self.count).int8(0, 0) == 2)
    }

    @Test func `either part may be empty`() throws {
        let connection = try TestServer.connect(Pipelines.table)
        let later = try connection.pipeline(parts: [{ [] }, { [Call(Self.insert, [.int8(1)])] }])
        #expect(later.count == 1)
        let earlier = try connection.pipeline(parts: [{ [Call(Self.count)] }, { [] }])
        #expect(try earlier[0].int8(0, 0) == 1)
    }

    @Test func `the first part is sent before the second is created`() throws {
        let connection = try TestServer.connect()
        let watcher = try TestServer.connect()
        let lock = Statement("lock", "SELECT pg_advisory_xact_lock(720491)")
        let held = Statement(
            "held", "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 720491")
        _ = try connection.query(.begin)
        _ = try connection.pipeline(parts: [
            { [Call(lock)] },
            {
                let deadline = ContinuousClock.now + .seconds(120)
                while try watcher.query(held).int8(0, 0) == 0, ContinuousClock.now < deadline {}
                #expect(try watcher.query(held).int8(0, 0) == 1, "waited 10 s for the first part")
                return [Call(.commit)]
            },
        ])
        #expect(!connection.isInTransaction)
    }

    @Test func `when creating the second part fails the transaction is open for a rollback`()
        throws
    {
        let connection = try TestServer.connect(Pipelines.table)
        _ = try connection.query(.begin)
        #expect(throws: ChangeOfMind.self) {
            _ = try connection.pipeline(parts: [
                { [Call(Self.insert, [.int8(1)])] }, { throw ChangeOfMind() },
            ])
        }
        #expect(connection.isUsable)
        #expect(connection.isInTransaction)
        connection.rollBack()
        #expect(try connection.query(Self.count).int8(0, 0) == 0)
    }

    @Test func `a refusal in the first part has its call's index and skips the second`() throws {
        let connection = try TestServer.connect(Pipelines.table)
        _ = try connection.query(.begin)
        let refusal = try #require(
            refusal {
                _ = try connection.pipeline(parts: [
                    { [Call(Pipelines.divide, [.int4(0)])] },
                    {
                        [Call(Self.insert, [.int8(1)]), Call(.commit)]
                    },
                ])
            })
        #expect(refusal.state == .divisionByZero)
        #expect(refusal.callIndex == 0)
        connection.rollBack()
        #expect(try connection.query(Self.count).int8(0, 0) == 0)
    }

    @Test func `a refusal in the second part has its call's index among all`() throws {
        let connection = try TestServer.connect(Pipelines.table)
        let refusal = try #require(
            refusal {
                _ = try connection.pipeline(parts: [
                    { [Call(.begin), Call(Self.insert, [.int8(1)])] },
                    {
                        [Call(Self.insert, [.int8(2)]), Call(Pipelines.divide, [.int4(0)])]
                    },
                ])
            })
        #expect(refusal.state == .divisionByZero)
        #expect(refusal.callIndex == 3)
        connection.rollBack()
        #expect(try connection.query(Self.count).int8(0, 0) == 0)
    }

    @Test func `the limit covers both parts together`() throws {
        let connection = try TestServer.connect(Pipelines.table)
        _ = try connection.query(.begin)
        let one = Call(Statement("one", "SELECT 1"))
        #expect(throws: PostgresError.self) {
            _ = try connection.pipeline(parts: [
                { [Call(Self.insert, [.int8(1)])] },
                {
                    Array(repeating: one, count: Connection.pipelineCallsMax)
                },
            ])
        }
        #expect(connection.isUsable)
        connection.rollBack()
        #expect(try connection.query(Self.count).int8(0, 0) == 0)
    }
}
