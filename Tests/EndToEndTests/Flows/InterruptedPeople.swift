import LedgerTestSupport
import Postgres
import Testing

/// A person who proves something in several steps, each of which is answered by another process than the one before.
protocol InterruptedPerson: Sendable {
    /// Performs the steps before the first process is killed.
    mutating func begin(at client: WireClient) async throws
    /// Performs the steps up to the proof.
    mutating func goOn(at client: WireClient) async throws
    /// Sends the proof, the same one each time.
    func prove(at client: WireClient) async throws -> WireClient.Answer
    /// Keeps the answer to the proof, with which the last process is compared: the person has not got it.
    mutating func keep(_ answer: WireClient.Answer)
    /// Sends the proof once more, and expects that it has counted once.
    func check(at client: WireClient) async throws
}

extension Deployment {
    /// Leads people through their steps, and kills each process: between two steps, while it executes the proofs, and
    /// after it has executed them.
    ///
    /// - Parameters:
    ///   - people: The people.
    ///   - killThird: Kills the process that has executed the proofs.
    /// - Returns: The fourth process, which has answered the repetitions.
    /// - Throws: an error of a process or of a person.
    func interrupt<Person: InterruptedPerson>(
        _ people: [Person],
        killThird: (ServerProcess) async throws -> Void = { try await $0.kill() }
    ) async throws -> ServerProcess {
        var people = people
        let first = try await serve()
        for index in people.indices { try await people[index].begin(at: first.client) }
        try await first.kill()

        let second = try await serve()
        for index in people.indices { try await people[index].goOn(at: second.client) }
        try await kill(
            second, holding: "SELECT FROM ledger_head WHERE tenant_id = 'default' FOR UPDATE",
            when: """
                SELECT application_name FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock'
                    AND application_name = 'account-ledger sequencer'
                """,
            asking: people.map { person in { _ = try await person.prove(at: $0) } })

        let third = try await serve()
        for index in people.indices {
            let answer = try await people[index].prove(at: third.client)
            #expect(answer.status == 200, "\(index): \(answer)")
            people[index].keep(answer)
        }
        try await killThird(third)

        let fourth = try await serve()
        for person in people { try await person.check(at: fourth.client) }
        return fourth
    }

    /// Kills a server whose commands a lock holds up.
    ///
    /// - Parameters:
    ///   - server: The server.
    ///   - lock: The statement that takes the lock.
    ///   - isReached: A query that has a row once the server is to be killed.
    ///   - requests: Requests that are sent meanwhile, again and again, since the server refuses what waits too long.
    /// - Throws: `TestTimeout`, or an error of the database.
    func kill(
        _ server: ServerProcess, holding lock: String, when isReached: String,
        asking requests: [@Sendable (WireClient) async throws -> Void]
    ) async throws {
        let blocker = Session(url: superuserURL, applicationName: "blocker")
        try await blocker.step { try $0.execute("BEGIN; \(lock)") }
        let asking = Task {
            await withDiscardingTaskGroup { group in
                for request in requests {
                    group.addTask {
                        while !Task.isCancelled, (try? await request(server.client)) != nil {}
                    }
                }
            }
        }
        try await eventually("the server to be held up") {
            try await asSuperuser(isReached).isEmpty ? nil : true
        }
        try await server.kill()
        // A server of another test may get the port.
        asking.cancel()
        await asking.value
        try await blocker.step { connection in
            // Postgres executes what it has got, also when the client is dead.
            _ = try connection.query(
                Statement(
                    "end_killed",
                    """
                    SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
                    WHERE datname = current_database() AND application_name LIKE 'account-ledger %'
                    """))
            connection.rollBack()
        }
        await blocker.close()
    }

    /// Expects that the log has so many accounts and verifies, and stops the server.
    func expectEnd(of server: ServerProcess, accounts: Int) async throws {
        let opened = try await asSuperuser(
            "SELECT count(*)::text FROM events WHERE type = 'AccountOpened'")
        #expect(opened == ["\(accounts)"])
        #expect(try await server.stop() == 0)
        try await expectVerified(self)
    }
}
