import Ledger
import LedgerAudit
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Postgres
import Testing

/// Rows that no version of this program wrote: they affect only their own account, and are found.
@Suite struct DamageTests {
    @Test func `canonically equivalent subjects are distinct in one batch`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                let subjects = ["jos\u{E9}", "jose\u{301}"].map { subject("google", $0) }
                var owners: [AccountID] = []
                for subject in subjects {
                    owners.append(try await fixture.signIn(subject).account)
                }
                #expect(owners[0] != owners[1])
                let seen = try await withThrowingTaskGroup(of: (Int, AccountID).self) { group in
                    for number in 0..<60 {
                        let index = number % 2
                        group.addTask {
                            (index, try await fixture.signIn(subjects[index]).account)
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(seen.allSatisfy { $0.1 == owners[$0.0] })
            }
        }
    }

    @Test func `an identity that is moved by hand is found, even without its disclosures`()
        async throws
    {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                _ = try await fixture.signIn(subject("apple", "ada"))
                let verifier = Verifier(
                    url: database.runtimeURL, keyring: SequencerFixture.keyring)
                #expect(try await verifier.run().holds)
                try await database.attack(
                    """
                    UPDATE identities SET provider_id = 'mallory';
                    DELETE FROM disclosures;
                    """)
                let report = try await verifier.run()
                #expect(!report.holds)
                #expect(report.findings.first?.check == .disclosures)
                await verifier.close()
            }
        }
    }

    @Test(arguments: ["-7", "0", "9223372036854775807"])
    func `an invalid sequence is refused by the table`(value: String) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                _ = try await fixture.signIn(subject("apple", "ada"))
                await #expect(throws: PostgresError.self) {
                    try await database.attack("UPDATE accounts SET next_seq = \(value)")
                }
            }
        }
    }

    @Test(arguments: ["-7", "9223372036854775807"])
    func `an invalid sequence affects its own account only`(value: String) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                _ = try await fixture.signIn(subject("apple", "ada"))
                try await database.attack(
                    """
                    ALTER EVENT TRIGGER ledger_guard_drop DISABLE;
                    ALTER TABLE accounts DROP CONSTRAINT accounts_next_seq_check;
                    UPDATE accounts SET next_seq = \(value);
                    """)
                await #expect(throws: LedgerFault.internalFailure) {
                    _ = try await fixture.signIn(subject("apple", "ada"))
                }
                _ = try await fixture.signIn(subject("apple", "ben"))
                let log = try await fixture.log()
                #expect(log.map(\.recorded.position.value) == Array(0..<Int64(log.count)))
            }
        }
    }

    @Test func `an unreadable row of a read model fails its own reader only`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var callers: [Caller] = []
                for number in 0..<20 {
                    callers.append(try await fixture.signIn(subject("apple", "s\(number)")))
                }
                let projector = Projector(
                    url: database.runtimeURL,
                    keyring: SequencerFixture.keyring, onAdvance: { _ in }, onFault: { _ in })
                let projecting = Task { await projector.run() }
                let reads = AccountReads(url: database.runtimeURL, onFault: { _ in })
                let reading = Task { await reads.run() }
                _ = try await reads.identities(of: callers[19], in: .default)
                try await database.attack(
                    """
                    UPDATE user_providers SET provider = 'NOT A NAME'
                    WHERE user_id = '\(callers[3].account)'
                    """)
                let answers = await withTaskGroup(of: Bool.self) { group in
                    for caller in callers {
                        group.addTask {
                            (try? await reads.identities(of: caller, in: .default)) != nil
                        }
                    }
                    return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                #expect(answers == 19)
                reads.close()
                projecting.cancel()
                await reading.value
                await projecting.value
            }
        }
    }
}

extension ScratchDatabase {
    /// Executes SQL that only a superuser can.
    fileprivate func attack(_ script: String) async throws {
        let session = Postgres.Session(url: superuserURL, applicationName: "attacker")
        try await session.run { try $0.execute(script) }
    }
}
