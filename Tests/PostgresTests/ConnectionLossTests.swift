import LoopbackServers
import Testing

@testable import Postgres

@Suite struct `Connections that fail, end or freeze` {
    static let one = Statement("one", "SELECT 1")

    @Test func `a connection ended while idle is lost at the next call`() throws {
        let connection = try TestServer.connect()
        _ = try connection.query(Self.one)
        try TestServer.terminate(connection.backendProcessID)
        #expect {
            try connection.query(Self.one)
        } throws: { error in
            guard case PostgresError.connectionLost = error else { return false }
            return true
        }
        #expect(!connection.isUsable)
        #expect(!connection.isAlive())
        #expect(throws: PostgresError.self) { try connection.query(Self.one) }
        #expect(throws: PostgresError.self) { try connection.execute("SELECT 1") }
    }

    @Test func `the end of an idle connection is noticed without a call`() throws {
        let connection = try TestServer.connect()
        #expect(connection.isAlive())
        _ = try connection.query(Self.one)
        #expect(connection.isAlive())
        try TestServer.terminate(connection.backendProcessID)
        #expect(!connection.isAlive())
        #expect(!connection.isUsable)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a backend ended in the middle of a statement is a lost connection`() async throws {
        let session = try Session(
            url: TestServer.url(), applicationName: "loss-tests", statementDeadline: .seconds(40))
        let processID = try await session.run { $0.backendProcessID }
        async let outcome: PostgresError? = session.run { connection in
            do {
                _ = try connection.query(Statement("sleep", "SELECT pg_sleep(30)"))
                return nil
            } catch let error as PostgresError {
                return error
            }
        }
        let observer = try TestServer.connect()
        let sleeping = Statement(
            "sleeping",
            "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'")
        try await TestServer.wait(for: "the backend to sleep") {
            try observer.query(sleeping, [.int4(processID)]).int8(0, 0) == 1
        }
        try TestServer.terminate(processID)
        guard case .connectionLost(let reason)? = try await outcome else {
            Issue.record("not a lost connection")
            return
        }
        #expect(reason.contains("57P01"))
        await session.close()
    }

    @Test(.timeLimit(.minutes(10)))
    func `a server that does not answer in time is abandoned`() throws {
        let lock = "SELECT pg_advisory_lock(hashtext('not in time'))"
        let holder = try TestServer.connect(lock)
        let connection = try TestServer.connect(statementDeadline: .milliseconds(150))
        // The server does not answer while the holder lives.
        #expect(throws: PostgresError.timedOut) { try connection.query(Statement("wait", lock)) }
        #expect(!connection.isUsable)
        holder.close()
    }

    @Test(.timeLimit(.minutes(10)))
    func `a server that sends a little at a time is abandoned too`() throws {
        let connection = try TestServer.connect(statementDeadline: .milliseconds(300))
        #expect(throws: PostgresError.timedOut) {
            try connection.execute(
                """
                DO $$ BEGIN
                    FOR i IN 1..400 LOOP RAISE NOTICE 'drip'; PERFORM pg_sleep(0.02); END LOOP;
                END $$
                """)
        }
        #expect(!connection.isUsable)
    }

    @Test func `a script that does not end in time is abandoned`() throws {
        let connection = try TestServer.connect(statementDeadline: .milliseconds(150))
        #expect(throws: PostgresError.timedOut) { try connection.execute("SELECT pg_sleep(5)") }
        #expect(!connection.isUsable)
    }

    @Test(.timeLimit(.minutes(10)))
    func `an abandoned statement does not keep waiting in the server`() async throws {
        let lock = "SELECT pg_advisory_lock(hashtext('given up'))"
        let holder = try TestServer.connect(lock)
        let connection = try TestServer.connect()
        connection.statementDeadline = .milliseconds(150)
        let processID = connection.backendProcessID
        #expect(throws: PostgresError.timedOut) { try connection.execute(lock) }
        let sessions = Statement("sessions", "SELECT count(*) FROM pg_stat_activity WHERE pid = $1")
        try await TestServer.wait(for: "the server to notice") {
            try holder.query(sessions, [.int4(processID)]).int8(0, 0) == 0
        }
    }

    @Test func `closing twice is harmless`() throws {
        let connection = try TestServer.connect()
        #expect(connection.serverVersion >= 150_000)
        connection.close()
        connection.close()
        #expect(!connection.isUsable)
        #expect(connection.serverVersion == 0)
    }
}

@Suite struct `Connecting` {
    @Test func `a port without a listener is a failed connection`() {
        #expect {
            try Connection(
                url: "postgresql://nobody:hush@127.0.0.1:1/none", applicationName: "postgres-tests")
        } throws: { error in
            guard case PostgresError.connectionFailed(let reason) = error else { return false }
            return !reason.isEmpty && !reason.contains("hush")
        }
    }

    @Test(arguments: [
        "postgresql://user:hush@[", "postgresql://user:hush@host/db?nonsense=1", "hush",
        "host=127.0.0.1 password='hush", "postgresql://user:h@ush@127.0.0.1/db",
        "postgresql://user:hush/and@127.0.0.1/db", "postgresql://user:hush@127.0.0.1/db\0",
    ])
    func `a URL that cannot be parsed is not quoted`(url: String) {
        #expect(throws: PostgresError.connectionFailed("the connection URL cannot be parsed")) {
            try Connection(url: url, applicationName: "postgres-tests")
        }
    }

    @Test func `a server that accepts the connection and stays silent is abandoned`() throws {
        let listener = try LoopbackServer(answer: [], closes: false)
        let start = ContinuousClock.now
        #expect(
            throws: PostgresError.connectionFailed("no connection within the connect timeout")
        ) {
            try Connection(
                url: "postgresql://user@127.0.0.1:\(listener.port)/db",
                applicationName: "postgres-tests", connectTimeout: .milliseconds(100))
        }
        #expect(ContinuousClock.now - start >= .milliseconds(100))
    }

    @Test(arguments: [(60, true), (0, false), (-1, false)])
    func `a connect timeout in the URL takes precedence`(seconds: Int, connects: Bool) throws {
        let url = try TestServer.url(adding: "connect_timeout=\(seconds)")
        let connection = try? Connection(
            url: url, applicationName: "postgres-tests", connectTimeout: .zero)
        #expect((connection != nil) == connects)
        #expect(throws: PostgresError.self) {
            try Connection(url: url, applicationName: "postgres-tests", deadline: .now)
        }
    }

    @Test func `a silent host does not prevent the attempt at the next one`() throws {
        let listener = try LoopbackServer(answer: [], closes: false)
        let port = try TestServer.port()
        let both = "host=127.0.0.1,127.0.0.1&port=\(listener.port),\(port)"
        let connection = try Connection(
            url: TestServer.url(adding: both), applicationName: "postgres-tests",
            connectTimeout: .seconds(20))
        #expect(connection.isUsable)
    }

    @Test func `the next address of a name is tried, and the next host`() throws {
        let port = try TestServer.port()
        for hosts in ["known.invalid", "unknown.invalid,known.invalid"] {
            let url = try TestServer.url(adding: "host=\(hosts)&port=\(port)")
            var patience = Duration.seconds(20)
            let handle = try Connection.open(
                url: url, applicationName: "postgres-tests", within: &patience
            ) { name throws(PostgresError) in
                guard name == "known.invalid" else { throw .connectionFailed("\(name) is unknown") }
                // Nothing listens at the first.
                return ["127.0.0.9", "127.0.0.1"]
            }
            #expect(handle.serverVersion >= 150_000)
            #expect(patience < .seconds(20) && patience > .zero)
        }
    }

    @Test func `the second choice is used when the preferred server is silent`() throws {
        let listener = try LoopbackServer(answer: [], closes: false)
        let port = try TestServer.port()
        let hosts = "host=127.0.0.1,127.0.0.1&port=\(port),\(listener.port)"
        let connection = try Connection(
            url: TestServer.url(adding: hosts + "&target_session_attrs=prefer-standby"),
            applicationName: "postgres-tests", connectTimeout: .seconds(4))
        #expect(connection.isUsable)
    }

    @Test func `when no server answers, the error has the reason of each`() throws {
        var patience = Duration.seconds(20)
        #expect(throws: PostgresError.connectionFailed("a is unknown; b is unknown")) {
            try Connection.open(
                url: "postgresql://a,b/db", applicationName: "postgres-tests", within: &patience
            ) { name throws(PostgresError) in throw .connectionFailed("\(name) is unknown") }
        }
        #expect(patience == .seconds(20))
    }

    @Test func `defaults of the server and the login do not change a statement's meaning`() throws {
        let options = [
            "synchronous_commit=off", "default_transaction_isolation=serializable",
            "standard_conforming_strings=off", "statement_timeout=20000", "search_path=elsewhere",
        ].map { "-c%20" + $0.replacing("=", with: "%3D") }.joined(separator: "%20")
        let connection = try Connection(
            url: TestServer.url(adding: "options=" + options), applicationName: "postgres-tests")
        let result = try connection.query(
            Statement(
                "settings",
                """
                SELECT name, setting, source FROM pg_settings WHERE name IN ('synchronous_commit',
                    'default_transaction_isolation', 'standard_conforming_strings', 'statement_timeout',
                    'search_path')
                ORDER BY name
                """))
        let settings = try (0..<result.rowCount).map {
            [try result.text($0, 0), try result.text($0, 1), try result.text($0, 2)]
        }
        // From the session: no change of the configuration overrides it.
        #expect(
            settings == [
                ["default_transaction_isolation", "read committed", "session"],
                ["search_path", "public, pg_temp", "session"],
                ["standard_conforming_strings", "on", "session"],
                ["statement_timeout", "0", "session"],
                ["synchronous_commit", "on", "session"],
            ])
    }

    @Test func `the connection has its application name and UTF-8`() throws {
        let result = try TestServer.connect().query(
            Statement(
                "settings",
                "SELECT current_setting('application_name'), current_setting('client_encoding')"))
        #expect(try result.text(0, 0) == "postgres-tests")
        #expect(try result.text(0, 1) == "UTF8")
    }
}
