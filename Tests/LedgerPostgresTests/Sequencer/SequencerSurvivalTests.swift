import Ledger
import LedgerEngine
import LedgerTestSupport
import Postgres
import Testing

/// Failures that the sequencer survives: lost connections, frozen neighbours, unreadable rows.
@Suite struct SequencerSurvivalTests {
    @Test func `a lost connection fails what was in flight and nothing after it`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                let admin = Postgres.Session(url: database.superuserURL, applicationName: "admin")
                var acknowledged = 0
                for round in 0..<10 {
                    async let replies = signUps(40, seed: UInt64(round), on: fixture.sequencer)
                    try await admin.run { connection in
                        _ = try connection.query(Self.endSequencers)
                    }
                    acknowledged += await replies
                }
                // The final check: once connections stay, every command is answered again.
                let deadline = ContinuousClock.now + .seconds(120)
                var healthy = 0
                while healthy == 0, ContinuousClock.now < deadline {
                    healthy = await signUps(5, seed: 1000, on: fixture.sequencer)
                }
                #expect(healthy > 0, "the sequencer answers again within 10 s")
                let opened = try await fixture.log().count { $0.recorded.event.name == .signedIn }
                #expect(opened >= acknowledged + healthy)
                #expect(acknowledged > 0)
            }
        }
    }

    @Test func `a poisoned command does not fail its neighbours`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var poisoned = RandomCommands(seed: 1, subjectsPerProvider: 1)
                let victim = try await signUp(&poisoned, on: fixture.sequencer)
                let admin = Postgres.Session(url: database.superuserURL, applicationName: "admin")
                try await admin.run { connection in
                    _ = try connection.query(
                        Statement("drop_key", "DELETE FROM account_keys WHERE account_id = $1"),
                        [.uuid(victim.account.bits)])
                }
                async let neighbours = signUps(60, seed: 7, on: fixture.sequencer)
                await #expect(throws: LedgerFault.internalFailure) {
                    _ = try await fixture.sequencer.submit(signOut(victim))
                }
                #expect(await neighbours == 60)
                #expect(!fixture.reportedFaults.isEmpty)
            }
        }
    }

    @Test func `a fault is thrown to every waiting task`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var commands = RandomCommands(seed: 1, subjectsPerProvider: 1)
                let victim = try await signUp(&commands, on: fixture.sequencer)
                let admin = Postgres.Session(url: database.superuserURL, applicationName: "admin")
                try await admin.run { connection in
                    try connection.execute("DELETE FROM account_keys")
                }
                let faults = await withTaskGroup(of: Int.self) { group in
                    for _ in 0..<8 {
                        group.addTask {
                            var faults = 0
                            for _ in 0..<50 {
                                do {
                                    _ = try await fixture.sequencer.submit(signOut(victim))
                                } catch {
                                    faults += 1
                                }
                            }
                            return faults
                        }
                    }
                    return await group.reduce(0, +)
                }
                #expect(faults == 400)
            }
        }
    }

    @Test func `a process that freezes with the lock does not block the tenant`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                let frozen = Postgres.Session(url: database.runtimeURL, applicationName: "frozen")
                try await frozen.run { connection in
                    try connection.execute("SET idle_in_transaction_session_timeout = '2s'")
                    try connection.execute("BEGIN")
                    _ = try connection.query(
                        Statement("hold", "SELECT 1 FROM ledger_head FOR UPDATE"))
                    // Holds the lock, as a stopped process would, until another command succeeds.
                    let start = ContinuousClock.now
                    while connection.isAlive() {
                        #expect(ContinuousClock.now - start < .seconds(120), "the lock is given up")
                        if ContinuousClock.now - start >= .seconds(120) { return }
                    }
                }
                #expect(await signUps(3, seed: 3, on: fixture.sequencer) == 3)
            }
        }
    }

    @Test func `a database that refuses to move the head appends nothing`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                let admin = Postgres.Session(url: database.superuserURL, applicationName: "admin")
                try await admin.run { connection in
                    try connection.execute(
                        """
                        CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql
                            AS 'BEGIN RETURN NULL; END';
                        CREATE TRIGGER skip BEFORE UPDATE ON ledger_head
                            FOR EACH ROW EXECUTE FUNCTION skip();
                        """)
                }
                await #expect(throws: LedgerFault.internalFailure) {
                    var commands = RandomCommands(seed: 5)
                    _ = try await signUp(&commands, on: fixture.sequencer)
                }
                #expect(try await fixture.log().count == 1)
            }
        }
    }

    private static let endSequencers = Statement(
        "end_sequencers",
        """
        SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'account-ledger sequencer'
        """)
}

private func signUp(
    _ commands: inout RandomCommands, on sequencer: Sequencer
) async throws -> Caller {
    while true {
        let result = try await sequencer.submit(commands.next())
        commands.learn(result)
        if case .success(.signedIn(let grant, _)) = result {
            return Caller(account: grant.account, session: grant.session)
        }
    }
}

private func signUps(_ count: Int, seed: UInt64, on sequencer: Sequencer) async -> Int {
    await withTaskGroup(of: Bool.self) { group in
        for index in 0..<count {
            group.addTask {
                var generator = SeededGenerator(seed: seed << 32 | UInt64(index))
                let intent = SignIn(
                    proof(
                        subject("apple", "sign-up-\(seed)-\(index)"),
                        authenticatedAt: Timestamp(seconds: 0)),
                    createAccount: true, refreshToken: digest(generator.bytes(32)),
                    newAccount: generator.id(), newIdentity: generator.id(),
                    newSession: generator.id())
                let command = Command(
                    id: generator.id(), tenant: .default,
                    origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
                    intent: .signIn(intent))
                guard case .success(.success)? = try? await result(of: command, on: sequencer)
                else { return false }
                return true
            }
        }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
}

private func result(
    of command: Command, on sequencer: Sequencer
) async throws -> Result<Result<Reply, Refusal>, LedgerFault> {
    do throws(LedgerFault) {
        return .success(try await sequencer.submit(command))
    } catch {
        return .failure(error)
    }
}

private func signOut(_ caller: Caller) -> Command {
    Command(
        id: CommandID(bits: 9), tenant: .default,
        origin: Command.Origin(request: nil, clientIP: "203.0.113.9", userAgent: nil),
        intent: .signOut(SignOut(caller: caller, scope: .session)))
}
