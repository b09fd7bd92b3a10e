import Cryptography
import Dispatch
import Ledger
import LedgerAudit
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Postgres
import Testing

/// Second factors that several processes change at once.
@Suite struct FactorRaceTests {
    private static let keyring = WrappingKeyring(
        currentID: "next", current: SymmetricKey(Array(repeating: 0x5B, count: 32)),
        former: ["test": SymmetricKey(Array(repeating: 0x5A, count: 32))],
        macs: SequencerFixture.strictKeyring.macs)

    /// A change of a factor, or the renewal of all rows.
    enum Party: CaseIterable {
        case rewrap
        case use
        case plan
    }

    private static func act(
        _ party: Party, _ enrolled: EnrolFactor, _ database: ScratchDatabase,
        _ fixture: SequencerFixture
    ) async throws {
        let account = enrolled.caller.account
        switch party {
        case .rewrap:
            let report = try await Rewrapping(
                url: database.ownerURL, keyring: keyring
            ) { _, _, _ in [] }.run()
            #expect(report.isComplete)
        case .use:
            var generator = SeededGenerator(seed: .random(in: 0...(.max)))
            let signIn = SignIn(
                proof(subject("apple", "ada")), of: account, factor: enrolled.factor.id,
                counter: 42, &generator)
            _ = try await fixture.submit(.signIn(signIn)).get()
        case .plan:
            let plan = PlanFactorRemoval(
                .plan, of: enrolled.factor.id, of: account, actor: .system, reason: "lost",
                caseReference: "5")
            _ = try await fixture.submit(.planFactorRemoval(plan)).get()
        }
    }

    @Test(arguments: [
        [Party.rewrap, .use], [.use, .rewrap], [.rewrap, .plan], [.plan, .rewrap],
    ])
    func `a renewal of keys and a change of a factor leave a row that both have written`(
        _ parties: [Party]
    ) async throws {
        try await ScratchDatabase.with { database in
            var generator = SeededGenerator(seed: 1)
            let enrolled = try await SequencerFixture.with(database, isProtected: true) {
                let enrolled = EnrolFactor(
                    by: try await $0.signIn(subject("apple", "ada")), &generator)
                _ = try await $0.submit(.enrolFactor(enrolled)).get()
                return enrolled
            }
            try await SequencerFixture.with(
                database, isProtected: true, keyring: Self.keyring, opensLedger: false
            ) { fixture in
                let (isHeld, letGo) = (
                    AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0)
                )
                let holder = Task {
                    try await database.asSuperuser.with { connection in
                        try connection.execute("BEGIN; SELECT FROM factors FOR UPDATE")
                        isHeld.continuation.finish()
                        letGo.wait()
                        try connection.execute("COMMIT")
                    }
                }
                for await _ in isHeld.stream {}
                try await withThrowingTaskGroup { group in
                    for (number, party) in parties.enumerated() {
                        group.addTask { try await Self.act(party, enrolled, database, fixture) }
                        try await eventually("\(party) waits for the row") {
                            let waiting = try await database.asSuperuser.texts(
                                """
                                SELECT pid::text FROM pg_stat_activity
                                WHERE datname = current_database() AND wait_event_type = 'Lock'
                                """)
                            return waiting.count == number + 1
                        }
                    }
                    letGo.signal()
                    try await holder.value
                    try await group.waitForAll()
                }
            }
            let verifier = Verifier(url: database.runtimeURL, keyring: Self.keyring)
            let report = try await verifier.run()
            await verifier.close()
            #expect(report.findings == [])
            let state = parties.contains(.plan) ? "removal_due IS NOT NULL" : "counter = 42"
            #expect(
                try await database.asSuperuser.texts(
                    "SELECT kind FROM factors WHERE \(state)") == ["totp"])
        }
    }

    /// Fails for one factor, as its row would that was changed outside.
    private struct FailingQueue: CommandQueue {
        let factor: FactorID
        let accounts: [FactorID: RemoveFactor.Authority]

        func submit(_ command: Command) async throws(LedgerFault) -> Result<Reply, Refusal> {
            guard command.tenant == .default, case .removeFactor(let removal) = command.intent,
                removal.factor != factor, accounts[removal.factor] == removal.authority
            else { throw .internalFailure }
            return .success(.factorRemoved)
        }
    }

    @Test func `a removal that fails holds up no other`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database, isProtected: true) { fixture in
                var generator = SeededGenerator(seed: 1)
                var factors: [FactorID] = []
                var accounts: [FactorID: RemoveFactor.Authority] = [:]
                var last = Timestamp(microseconds: 0)
                for name in ["ada", "bob", "cyd"] {
                    let enrolled = EnrolFactor(
                        by: try await fixture.signIn(subject("apple", name)), &generator)
                    _ = try await fixture.submit(.enrolFactor(enrolled)).get()
                    let reply = try await fixture.submit(
                        .planFactorRemoval(
                            PlanFactorRemoval(
                                .plan, of: enrolled.factor.id, of: enrolled.caller.account,
                                actor: .system, reason: "lost", caseReference: "5"))
                    ).get()
                    factors.append(enrolled.factor.id)
                    accounts[enrolled.factor.id] = .planned(enrolled.caller.account)
                    last = try #require(PlanFactorRemoval.success(in: reply)?.plan.due)
                }
                let due = DueRemovals(url: database.runtimeURL, pageSize: 1)
                var (removed, faults) = ([FactorID](), 0)
                await due.removeAll(
                    at: last, by: FailingQueue(factor: factors[0], accounts: accounts),
                    onRemoval: { removal, _ in removed.append(FactorID(bits: removal.id)) },
                    onFault: { _ in faults += 1 })
                #expect(removed == Array(factors.dropFirst()) && faults == 1)
                await due.close()
            }
        }
    }
}
