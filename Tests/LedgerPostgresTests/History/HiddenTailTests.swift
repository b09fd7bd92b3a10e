import Ledger
import LedgerAudit
import LedgerEngine
import LedgerTestSupport
import Testing

/// Attempts to hide the end of a history: the stated last event, and the evidence for it.
@Suite struct HiddenTailTests {
    private func reads(
        _ history: HistoryFixture, searchesWholeLog: Bool = false, searchMax: Int64 = 20_000,
        patience: Duration? = nil
    ) -> HistoryReads {
        HistoryReads(
            url: history.database.runtimeURL, keyring: nil, connections: 1,
            searchesWholeLog: searchesWholeLog, searchMax: searchMax, patience: patience)
    }

    /// Hides Ada's last event, at position 10, by changes that the serving login may make.
    private func hideLast(of history: HistoryFixture) async throws {
        try await history.database.asRuntime.execute(
            """
            DELETE FROM account_audit_1 WHERE position = 10;
            UPDATE accounts SET next_seq = 6, last_position = 9, last_leaf =
                (SELECT sha256('\\x00'::bytea || entry) FROM events WHERE position = 9)
            WHERE account_id = '\(history.ada.account)'
            """)
    }

    @Test(arguments: [2, 6, 7, 100])
    func `an event hidden by the current tables is found in the log`(limit: Int) async throws {
        try await HistoryFixture.with { history in
            try await hideLast(of: history)
            let reads = reads(history)
            var last: LogPosition?
            let fault = await #expect(throws: HistoryFault.self) {
                while true {
                    let page = try #require(
                        await reads.history(
                            of: history.ada.account, after: last, asOf: nil, limit: limit,
                            isDisclosing: false, in: .default))
                    #expect(page.eventCount == nil, "there is no evidence that it is complete")
                    guard page.eventCount == nil else { return }
                    last = page.events.last?.recorded.position
                }
            }
            guard case .damaged(let what)? = fault else {
                Issue.record("\(String(describing: fault))")
                return
            }
            #expect(what.contains("7 events, but next_seq is 6"), "\(what)")
            await #expect(throws: HistoryFault.self) {
                try await reads.account(history.ada.account, asOf: nil, in: .default)
            }
            // Up to there the log agrees with the tables.
            let before = try #require(
                await reads.account(
                    history.ada.account, asOf: .position(LogPosition(9)), in: .default))
            #expect(before.account.eventCount == 6 && before.basis == .log)
        }
    }

    @Test func `a range that was not scanned is not vouched for`() async throws {
        try await HistoryFixture.with { history in
            // One event of the log, Bob's, comes after Ada's last.
            for (searchMax, basis) in [(Int64(1), HistoryBasis.log), (0, .decisionState)] {
                let reads = reads(history, searchMax: searchMax)
                let page = try #require(
                    await reads.history(
                        of: history.ada.account, after: nil, asOf: nil, limit: 100,
                        isDisclosing: false, in: .default))
                #expect(page.eventCount == 7 && page.basis == basis)
                let account = try #require(
                    await reads.account(history.ada.account, asOf: nil, in: .default))
                #expect(account.basis == basis)
                // The account's next event is evidence in the log itself, however far away.
                let earlier = try #require(
                    await reads.account(
                        history.ada.account, asOf: .position(LogPosition(7)), in: .default))
                #expect(earlier.basis == .log)
            }
            try await hideLast(of: history)
            let believing = try #require(
                await reads(history, searchMax: 0).account(
                    history.ada.account, asOf: nil, in: .default))
            #expect(believing.account.eventCount == 6 && believing.basis == .decisionState)
            await #expect(throws: HistoryFault.self) {
                try await reads(history, searchesWholeLog: true).account(
                    history.ada.account, asOf: nil, in: .default)
            }
        }
    }

    /// The number of rows above them without a valid signature.
    @Test(arguments: [0, 1, 30])
    func `a log that is shorter than what was signed gives no answer`(strays: Int) async throws {
        try await HistoryFixture.with { history in
            try await SealingFixture.with(history.database) { sealing in
                for _ in 0..<2 { try await sealing.sealOnce(signedMax: 6) }
                #expect(try await sealing.checkpoints().map(\.size) == [6, 12])
            }
            try await history.database.asRuntime.execute(
                """
                INSERT INTO checkpoints SELECT tenant_id, origin, 40 + n, root, note, 'infinity'
                FROM checkpoints, generate_series(1, \(strays)) n WHERE size = 12
                """)
            let whole = try #require(
                await reads(history).account(history.ada.account, asOf: nil, in: .default))
            #expect(whole.log == LogExtent(size: 12, signedSize: 12))
            // All unsigned data is rolled back.
            try await hideLast(of: history)
            try await history.damage(
                """
                DELETE FROM events WHERE position >= 10;
                DELETE FROM account_audit_1 WHERE position >= 10;
                UPDATE ledger_head SET next_position = 10;
                UPDATE accounts SET next_seq = 4, last_position = 8, last_leaf =
                    (SELECT sha256('\\x00'::bytea || entry) FROM events WHERE position = 8)
                WHERE account_id = '\(history.bob.account)'
                """)
            for account in [history.ada.account, history.bob.account] {
                let fault = await #expect(throws: HistoryFault.self) {
                    try await reads(history).history(
                        of: account, after: nil, asOf: nil, limit: 100, isDisclosing: false,
                        in: .default)
                }
                guard case .damaged(let what)? = fault else {
                    Issue.record("\(String(describing: fault))")
                    return
                }
                #expect(what.contains("12 events were signed"), "\(what)")
            }
            let owners = IdentityOwners(url: history.database.runtimeURL)
            await #expect(throws: LogDamage.self) {
                try await owners.owners(
                    of: subject("google", "bob"), asOf: nil, in: .default, emit: { _ in })
            }
        }
    }

    @Test func `a query that takes longer than its timeout is aborted`() async throws {
        try await HistoryFixture.with { history in
            let reads = reads(history, patience: .zero)
            for moment in [nil, Moment.position(LogPosition(3))] {
                await #expect(throws: HistoryFault.unavailable) {
                    try await reads.account(history.ada.account, asOf: moment, in: .default)
                }
            }
        }
    }

    @Test func `the log is not searched for an unknown account`() async throws {
        try await HistoryFixture.with { history in
            // A search from the beginning would meet this.
            try await history.damage(
                "DELETE FROM projections; DELETE FROM events WHERE position = 5")
            let none = try await reads(history).account(
                AccountID(bits: 7), asOf: nil, in: .default)
            #expect(none == nil)
        }
    }
}
