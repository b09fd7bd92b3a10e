import Postgres
import Testing

@Suite struct `Refusals of the server` {
    static let table = "CREATE TEMP TABLE owners (id int8 CONSTRAINT owners_key PRIMARY KEY)"

    @Test func `a duplicate key error has the constraint but no value`() throws {
        let connection = try TestServer.connect(Self.table)
        let insert = Statement("insert", "INSERT INTO owners VALUES ($1)")
        _ = try connection.query(insert, [.int8(4711)])
        let refusal = try #require(
            refusal { _ = try connection.query(insert, [.int8(4711)]) })
        #expect(refusal.state == .uniqueViolation)
        #expect(refusal.constraint == "owners_key")
        #expect(refusal.table == "owners")
        #expect(refusal.severity == "ERROR")
        #expect(refusal.callIndex == 0)
        #expect(!"\(refusal)".contains("4711"))
        #expect(connection.isUsable)
    }

    @Test func `a catch pattern matches by code`() throws {
        let connection = try TestServer.connect()
        let select: () throws -> Void = { try connection.execute("SELECT * FROM not_there") }
        do {
            try select()
            Issue.record("the table exists")
        } catch SQLState.uniqueViolation {
            Issue.record("matched the wrong code")
        } catch SQLState.undefinedTable {
            #expect(connection.isUsable)
        }
    }

    @Test(arguments: [
        ("SELECT 1/0", SQLState.divisionByZero), ("SELEC", .syntaxError),
        ("SELECT nope()", .undefinedFunction), ("SELECT nope", .undefinedColumn),
        ("DO $$ BEGIN RAISE EXCEPTION 'no'; END $$", .raiseException),
        ("SET statement_timeout = 20; SELECT pg_sleep(20)", .queryCanceled),
        ("CREATE TEMP TABLE twice (); CREATE TEMP TABLE twice ()", .duplicateTable),
        ("CREATE DATABASE template1", .duplicateDatabase),
        ("SET ROLE pg_monitor; CREATE ROLE never_made", .insufficientPrivilege),
        ("CREATE TEMP SEQUENCE fresh; SELECT currval('fresh')", .objectNotInPrerequisiteState),
        ("BEGIN READ ONLY; CREATE TABLE t ()", .readOnlyTransaction),
    ])
    func `scripts throw the server's code`(script: String, code: SQLState) throws {
        let connection = try TestServer.connect()
        #expect(state { try connection.execute(script) } == code)
        #expect(connection.isUsable)
    }

    @Test func `an unavailable lock has its own code`() throws {
        let holder = try TestServer.connect("SELECT pg_advisory_lock(7301)")
        let waiter = try TestServer.connect("SET lock_timeout = 20")
        #expect(
            state { try waiter.execute("SELECT pg_advisory_lock(7301)") } == .lockNotAvailable)
        holder.close()
    }

    @Test func `a message about malformed input is cut before the value`() throws {
        let connection = try TestServer.connect()
        let refusal = try #require(
            refusal {
                _ = try connection.query(
                    Statement("cast", "SELECT ($1::text)::uuid"), [.text("somebody@example.com")])
            })
        #expect(refusal.state == .invalidTextRepresentation)
        #expect(refusal.message.hasPrefix("invalid input syntax for type uuid"))
        #expect(!refusal.message.contains("somebody"))
    }

    @Test func `a script is one transaction and stops at its first error`() throws {
        let connection = try TestServer.connect(Self.table)
        #expect(
            state {
                try connection.execute(
                    "INSERT INTO owners VALUES (1); SELECT 1/0; INSERT INTO owners VALUES (2)")
            } == .divisionByZero)
        let count = try connection.query(Statement("count", "SELECT count(*) FROM owners"))
        #expect(try count.int8(0, 0) == 0)
    }

    @Test func `notices are dropped without effect`() throws {
        let connection = try TestServer.connect("DO $$ BEGIN RAISE WARNING 'hear, hear'; END $$")
        #expect(connection.isAlive())
        #expect(connection.isUsable)
    }
}
