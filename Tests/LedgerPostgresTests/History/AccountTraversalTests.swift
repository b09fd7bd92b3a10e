import Ledger
import LedgerAudit
import LedgerTestSupport
import Synchronization
import Testing

/// An account's events in order, and the result when something is missing.
@Suite struct AccountTraversalTests {
    private static let ofAda: [Int64] = [1, 2, 3, 4, 8, 9, 10]

    @Test(arguments: [1, 2, 3, 7, 100])
    func `pages add up to the history, and the last one says so`(limit: Int) async throws {
        try await HistoryFixture.with { history in
            let reads = HistoryReads(url: history.database.runtimeURL, keyring: nil)
            var positions: [Int64] = []
            var pages = 0
            while true {
                let page = try #require(
                    await reads.history(
                        of: history.ada.account, after: positions.last.map(LogPosition.init),
                        asOf: nil, limit: limit, isDisclosing: false, in: .default))
                positions += page.events.map(\.recorded.position.value)
                pages += 1
                #expect(page.events.allSatisfy { $0.leaf == leafHash($0.entry) })
                guard page.eventCount == nil else {
                    #expect(page.eventCount == 7)
                    break
                }
                #expect(page.events.count == limit)
            }
            #expect(positions == Self.ofAda)
            #expect(pages == (7 + limit - 1) / limit)
        }
    }

    @Test func `a page may begin and end at any position`() async throws {
        try await HistoryFixture.with { history in
            let reads = HistoryReads(url: history.database.runtimeURL, keyring: nil)
            for after in 0..<HistoryFixture.count {
                for end in 0..<HistoryFixture.count {
                    let page = try #require(
                        await reads.history(
                            of: history.ada.account, after: LogPosition(after),
                            asOf: .position(LogPosition(end)), limit: 100, isDisclosing: false,
                            in: .default))
                    let expected = Self.ofAda.filter { after < $0 && $0 <= end }
                    #expect(page.events.map(\.recorded.position.value) == expected)
                    guard after <= end else { continue }
                    #expect(page.eventCount == Int64(Self.ofAda.filter { $0 <= end }.count))
                }
            }
        }
    }

    /// Damage to the read model and to decision state, which the log corrects.
    @Test(arguments: [
        "DELETE FROM account_audit_1", "DELETE FROM account_audit_1 WHERE position IN (3, 4)",
        "DELETE FROM account_audit_1 WHERE position > 4",
        "DELETE FROM account_audit_1 WHERE position = 10",
        "UPDATE account_audit_1 SET position = 2 WHERE position = 9 OR position = 4",
        "UPDATE account_audit_1 SET position = 11 WHERE position = 3",
        "UPDATE projections SET position = 0", "UPDATE projections SET position = 5",
        "DELETE FROM account_audit_1 WHERE position > 4; UPDATE projections SET position = 9",
        "DELETE FROM projections",
    ])
    func `events that account_audit lacks are read from the log`(damage: String) async throws {
        try await HistoryFixture.with { history in
            try await history.damage(damage)
            let reads = HistoryReads(url: history.database.runtimeURL, keyring: nil)
            for end in 0..<HistoryFixture.count {
                for limit in [2, 100] {
                    var positions: [Int64] = []
                    var count: Int64?
                    while count == nil {
                        let page = try #require(
                            await reads.history(
                                of: history.ada.account,
                                after: positions.last.map(LogPosition.init),
                                asOf: .position(LogPosition(end)), limit: limit,
                                isDisclosing: false, in: .default))
                        positions += page.events.map(\.recorded.position.value)
                        count = page.eventCount
                    }
                    #expect(positions == Self.ofAda.filter { $0 <= end })
                    #expect(count == Int64(positions.count))
                }
            }
        }
    }

    @Test func `an account that is only in the log is found by a search of the whole log`()
        async throws
    {
        try await HistoryFixture.with { history in
            try await history.damage("DELETE FROM account_audit_1; DELETE FROM accounts")
            let quick = HistoryReads(url: history.database.runtimeURL, keyring: nil)
            let none = try await quick.account(history.ada.account, asOf: nil, in: .default)
            #expect(none == nil)
            let thorough = HistoryReads(
                url: history.database.runtimeURL, keyring: nil, searchesWholeLog: true)
            // It has events but no row in accounts, which is damage at the end of the log.
            await #expect(throws: HistoryFault.self) {
                try await thorough.account(history.ada.account, asOf: nil, in: .default)
            }
            let earlier = try #require(
                await thorough.account(
                    history.ada.account, asOf: .position(LogPosition(9)), in: .default))
            #expect(earlier.account.eventCount == 6)
        }
    }

    @Test(arguments: [false, true])
    func `an event that names the account without touching it is not taken for its next one`(
        searchesWholeLog: Bool
    ) async throws {
        try await MergeFixture.with { fixture in
            _ = try await fixture.merge()
            let size = try await fixture.sequencer.log().count
            // Not folded, and first the erasure of Bob's account, which names Ada's as the survivor.
            var story = fixture.story()
            _ = try await story.erase(fixture.ada.account).get()
            let reads = HistoryReads(
                url: fixture.database.runtimeURL, keyring: nil, searchesWholeLog: searchesWholeLog)
            let before = try #require(
                await reads.account(
                    fixture.ada.account, asOf: .position(LogPosition(Int64(size) - 1)),
                    in: .default))
            #expect(before.basis == .log)
            await reads.close()
        }
    }

    /// Damage to the log, for which there is no answer.
    @Test(arguments: [
        ("DELETE FROM events WHERE position = 4", "position 4"),
        ("DELETE FROM events WHERE position = 10", "position 10"),
        (
            """
            UPDATE events SET entry = set_byte(entry, 20, get_byte(entry, 20) # 128)
            WHERE position = 4
            """, "position 4"
        ),
        (
            """
            UPDATE events SET entry = convert_to(replace(convert_from(entry, 'UTF8'),
                event_id::text, '00000000-0000-7000-8000-000000000000'), 'UTF8')
            WHERE position = 4
            """, "position 8"
        ),
        (
            """
            UPDATE events SET entry = convert_to(replace(convert_from(entry, 'UTF8'),
                event_id::text, '00000000-0000-7000-8000-000000000000'), 'UTF8')
            WHERE position = 10
            """, "position 10: the last event"
        ),
        ("UPDATE events SET entry = '\\x00' WHERE position = 10", "6 events, but next_seq is 7"),
        ("UPDATE accounts SET next_seq = 9", "7 events, but next_seq is 9"),
    ])
    func `an incomplete history is a fault`(damage: String, says: String) async throws {
        try await HistoryFixture.with { history in
            try await history.damage(damage)
            let faults = FaultNotes()
            let reads = HistoryReads(
                url: history.database.runtimeURL, keyring: nil, onFault: { faults.add($0) })
            let fault = await #expect(throws: HistoryFault.self) {
                try await reads.account(
                    history.ada.account, asOf: .position(LogPosition(11)), in: .default)
            }
            guard case .damaged(let what)? = fault else {
                Issue.record("\(String(describing: fault))")
                return
            }
            #expect(what.contains(says), "\(what)")
            #expect(faults.all.count == 1)
            // The history before it is unchanged and proved.
            let before = try #require(
                await reads.account(
                    history.ada.account, asOf: .position(LogPosition(2)), in: .default))
            #expect(before.account.eventCount == 2)
        }
    }

    @Test func `personal data is that of the account alone`() async throws {
        try await HistoryFixture.with { history in
            let reads = HistoryReads(
                url: history.database.runtimeURL, keyring: SequencerFixture.keyring)
            let page = try #require(
                await reads.history(
                    of: history.ada.account, after: nil, asOf: nil, limit: 100,
                    isDisclosing: true, in: .default))
            let disclosed = page.events.map { $0.disclosed?.values.map(\.value) ?? ["?"] }
            #expect(disclosed[2].contains("ada@example.com"))
            #expect(disclosed[1].contains("ada"))
            // Bob's attempt at her identity discloses nothing of Bob.
            #expect(page.events[4].recorded.event.name == .conflictRejected)
            #expect(disclosed[4] == [])
            let closed = try #require(
                await reads.history(
                    of: history.ada.account, after: nil, asOf: nil, limit: 100,
                    isDisclosing: false, in: .default))
            #expect(closed.events.allSatisfy { $0.disclosed == nil })
        }
    }
}

/// Collects the reported faults.
private final class FaultNotes: Sendable {
    private let notes = Mutex<[String]>([])

    var all: [String] { notes.withLock(\.self) }

    func add(_ note: String) {
        notes.withLock { $0.append(note) }
    }
}
