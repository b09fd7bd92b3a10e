import Ledger
import LedgerAudit
import LedgerEngine
import LedgerTestSupport
import Synchronization
import Testing

/// History read back from the log.
@Suite struct ReplayTests {
    /// Collects the emitted events of a replay.
    private final class EmittedEvents: Sendable {
        private let events = Mutex<[ReplayedEvent]>([])

        var all: [ReplayedEvent] { events.withLock(\.self) }
        var positions: [Int64] { all.map(\.recorded.position.value) }

        func add(_ event: ReplayedEvent) {
            events.withLock { $0.append(event) }
        }
    }

    @Test func `an account's history is every event that touches it`() async throws {
        try await HistoryFixture.with { history in
            let tape = EmittedEvents()
            let summary = try await replay(history.ada, in: history.database, onto: tape)
            #expect(summary?.isWhole == true, "\(summary?.findings ?? [])")
            #expect(tape.positions == [1, 2, 3, 4, 8, 9, 10])
            #expect(tape.all.allSatisfy { $0.disclosed == nil })
        }
    }

    @Test(arguments: [
        "DELETE FROM account_audit", "DELETE FROM account_audit WHERE position IN (3, 4)",
        "DELETE FROM account_audit WHERE position > 4",
        "UPDATE account_audit SET position = 2 WHERE position = 9 OR position = 4",
        "UPDATE account_audit SET position = 11 WHERE position = 3",
    ])
    func `events that account_audit lacks are read from the log`(damage: String) async throws {
        try await HistoryFixture.with { history in
            try await history.damage(damage)
            let tape = EmittedEvents()
            let summary = try await replay(history.ada, in: history.database, onto: tape)
            #expect(summary?.isWhole == true, "\(summary?.findings ?? [])")
            #expect(tape.positions == [1, 2, 3, 4, 8, 9, 10])
        }
    }

    @Test func `a missing event is named`() async throws {
        try await HistoryFixture.with { history in
            try await history.damage("DELETE FROM events WHERE position = 4")
            let tape = EmittedEvents()
            let summary = try await replay(history.ada, in: history.database, onto: tape)
            #expect(tape.positions == [1, 2, 3, 8, 9, 10])
            #expect(summary?.findings.first?.position == LogPosition(8))
        }
    }

    @Test func `an account that is not named anywhere is unknown`() async throws {
        try await HistoryFixture.with { history in
            let replay = Replay(url: history.database.runtimeURL, keyring: nil)
            let summary = try await replay.account(AccountID(bits: 7), in: .default) { _ in }
            #expect(summary == nil)
        }
    }

    @Test func `a range is emitted in order, as text without personal data`() async throws {
        try await HistoryFixture.with { history in
            let tape = EmittedEvents()
            let replay = Replay(url: history.database.runtimeURL, keyring: nil)
            let summary = try await replay.range(
                from: LogPosition(2), through: LogPosition(8), in: .default
            ) { tape.add($0) }
            #expect(summary.isWhole)
            #expect(tape.positions == Array(2...8))
            let conflict = try #require(tape.all.last)
            #expect(conflict.text.contains("ConflictRejected  refused (held_by_other)"))
            #expect(conflict.text.contains("accounts \(history.bob.account) (seq 3)"))
            #expect(conflict.text.contains(", \(history.ada.account) (seq 4)"))
            #expect(!tape.all.contains { $0.text.contains("@") || $0.jsonLine.contains("@") })
            #expect(
                conflict.jsonLine
                    == "{\"leaf\":\"\(conflict.leaf)\",\"entry\":"
                    + String(decoding: conflict.entry, as: UTF8.self) + "}\n")
        }
    }

    @Test func `disclosures are shown on request, with control characters escaped`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                _ = try await story.signIn("apple", "ada", email: "a\u{1B}[2J\"@b.c")
                let tape = EmittedEvents()
                let replay = Replay(
                    url: database.runtimeURL, keyring: SequencerFixture.keyring)
                let summary = try await replay.range(
                    from: LogPosition(0), through: LogPosition(.max), in: .default
                ) { tape.add($0) }
                #expect(summary.events == 4)
                let signedIn = try #require(tape.all.last)
                #expect(signedIn.text.contains("email \"a\\u{1b}[2J\"@b.c\""))
                #expect(signedIn.jsonLine.contains("\"email\":\"a\\u001b[2J\\\"@b.c\""))
                #expect(signedIn.disclosed?.clientIP == Story.clientIP)
            }
        }
    }

    private func replay(
        _ guest: Guest, in database: ScratchDatabase, onto tape: EmittedEvents
    ) async throws -> ReplaySummary? {
        let replay = Replay(url: database.runtimeURL, keyring: nil)
        let summary = try await replay.account(guest.account, in: .default) { tape.add($0) }
        await replay.close()
        return summary
    }
}
