import Ledger
import LedgerAudit
import LedgerEngine
import LedgerTestSupport
import Testing

/// Accounts as of any moment, from a real log, compared with the fold of the whole log.
@Suite struct AsOfTests {
    /// The progress of the read model at the time of the queries.
    enum Projected: CaseIterable { case nothing, half, everything }

    @Test(arguments: Projected.allCases, [UInt64(31), 32])
    func `at every position every account matches the fold of the whole log`(
        projected: Projected, seed: UInt64
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var commands = RandomCommands(seed: seed, subjectsPerProvider: 3)
                for step in 0..<60 {
                    commands.learn(try await fixture.sequencer.submit(commands.next()))
                    if projected == .half, step == 30 { try await database.fold() }
                }
                if projected == .everything { try await database.fold() }
                let log = try await fixture.log()
                let accounts = Set(log.flatMap { $0.recorded.accounts.map(\.id) })
                #expect(accounts.count > 3)
                let reads = HistoryReads(url: database.runtimeURL, keyring: nil)
                var state = LedgerState(tenant: .default)
                for event in log {
                    try state.apply(event.recorded, leaf: event.leaf)
                    let position = event.recorded.position
                    for account in accounts {
                        let asOf = try #require(
                            await reads.account(
                                account, asOf: .position(position), in: .default))
                        #expect(asOf.asOf?.position == position)
                        #expect(asOf.asOf?.recordedAt == event.recorded.recordedAt)
                        #expect(asOf.log == LogExtent(size: Int64(log.count), signedSize: nil))
                        expect(asOf.account, like: state)
                    }
                }
                await reads.close()
            }
        }
    }

    @Test func `a time means the last event recorded by then`() async throws {
        try await HistoryFixture.with { history in
            let reads = HistoryReads(url: history.database.runtimeURL, keyring: nil)
            let page = try #require(
                await reads.history(
                    of: history.ada.account, after: nil, asOf: nil, limit: 100,
                    isDisclosing: false, in: .default))
            for event in page.events {
                let time = event.recorded.recordedAt
                let after = try #require(
                    await reads.account(
                        history.ada.account, asOf: .time(time), in: .default))
                #expect(after.asOf?.recordedAt == time)
                #expect(after.asOf.map { $0.position >= event.recorded.position } == true)
                let before = try #require(
                    await reads.account(
                        history.ada.account,
                        asOf: .time(Timestamp(microseconds: time.microseconds - 1)),
                        in: .default))
                #expect(before.asOf.map { $0.recordedAt < time } ?? true)
                #expect(before.account.eventCount < after.account.eventCount)
            }
            let early = try #require(
                await reads.account(
                    history.ada.account, asOf: .time(Timestamp(seconds: 0)), in: .default))
            #expect(early.asOf == nil)
            #expect(early.account == ReplayedAccount(history.ada.account, in: .default))
            let late = try #require(
                await reads.account(
                    history.ada.account, asOf: .time(Timestamp(seconds: 100_000_000_000)),
                    in: .default))
            #expect(late.asOf?.position == LogPosition(HistoryFixture.count - 1))
        }
    }

    @Test func `a column of times that differs from the entries gives no answer`() async throws {
        try await HistoryFixture.with { history in
            let reads = HistoryReads(url: history.database.runtimeURL, keyring: nil)
            let first = try #require(
                await reads.account(
                    history.ada.account, asOf: .position(LogPosition(1)), in: .default))
            let before = try #require(first.asOf).recordedAt.adding(seconds: -60)
            try await history.damage(
                "UPDATE events SET recorded_at = recorded_at - interval '1 hour'")
            await #expect(throws: HistoryFault.self) {
                try await reads.account(history.ada.account, asOf: .time(before), in: .default)
            }
        }
    }

    @Test func `a moment in the future is refused`() async throws {
        try await HistoryFixture.with { history in
            let reads = HistoryReads(url: history.database.runtimeURL, keyring: nil)
            for position in [HistoryFixture.count, .max] {
                await #expect(throws: HistoryFault.notReached(size: HistoryFixture.count)) {
                    try await reads.account(
                        history.ada.account, asOf: .position(LogPosition(position)), in: .default)
                }
            }
        }
    }

    @Test func `an account that is not in the log does not exist`() async throws {
        try await HistoryFixture.with { history in
            for searches in [false, true] {
                let reads = HistoryReads(
                    url: history.database.runtimeURL, keyring: nil, searchesWholeLog: searches)
                let unknown = AccountID(bits: 7)
                let answers = try await [
                    reads.account(unknown, asOf: .position(LogPosition(3)), in: .default),
                    reads.account(unknown, asOf: nil, in: .default),
                    reads.account(history.ada.account, asOf: nil, in: tenant("other")),
                ]
                #expect(answers.allSatisfy { $0 == nil })
            }
        }
    }

    @Test func `between any two moments the changes are those of the two moments`() async throws {
        try await HistoryFixture.with { history in
            let reads = HistoryReads(url: history.database.runtimeURL, keyring: nil)
            for from in 0..<HistoryFixture.count {
                for to in from..<HistoryFixture.count {
                    let changes = try #require(
                        await reads.changes(
                            of: history.ada.account, from: .position(LogPosition(from)),
                            to: .position(LogPosition(to)), limit: 100, isDisclosing: false,
                            in: .default))
                    let moments = try await (
                        reads.account(
                            history.ada.account, asOf: .position(LogPosition(from)), in: .default),
                        reads.account(
                            history.ada.account, asOf: .position(LogPosition(to)), in: .default)
                    )
                    #expect(changes.difference.from == moments.0?.account)
                    #expect(changes.difference.to == moments.1?.account)
                    #expect(
                        changes.page.events.map(\.recorded.position.value)
                            == [1, 2, 3, 4, 8, 9, 10].filter { from < $0 && $0 <= to })
                }
            }
            let last = try #require(
                await reads.changes(
                    of: history.ada.account, from: .position(LogPosition(4)), to: nil, limit: 2,
                    isDisclosing: false, in: .default))
            #expect(last.page.events.map(\.recorded.position.value) == [8, 9])
            #expect(last.page.eventCount == nil)
            #expect(last.difference.removedLinks.map(\.provider.description) == ["google"])
            #expect(last.difference.endedSessions.map(\.openedPosition.value) == [3])
        }
    }

    private func expect(_ account: ReplayedAccount, like state: LedgerState) {
        let known = state.accounts[account.id]
        #expect(account.links == known?.links ?? [])
        #expect(account.linkedProviders == known?.linkedProviders ?? [])
        #expect(account.eventCount == known?.nextSequence ?? 0)
        #expect(account.lastLeaf == known?.lastLeaf)
        #expect(account.opened?.position == known?.openedPosition)
        let live = state.sessions.values.filter {
            $0.account == account.id && $0.endedPosition == nil
        }
        #expect(account.sessions == live.sorted { $0.openedPosition < $1.openedPosition })
        #expect(account.erased?.position == known?.erasedPosition)
        #expect(account.holds == known?.holds ?? [])
    }
}
