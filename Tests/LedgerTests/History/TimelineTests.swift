import Ledger
import LedgerTestSupport
import Testing

/// Timelines of random histories against the fold of the whole log.
@Suite struct TimelineTests {
    @Test(arguments: Array(UInt64(1)...10))
    func `a timeline lists every event that touches a family, each once`(
        seed: UInt64
    ) throws {
        let log = try RandomLog(seed: seed, commands: 220)
        for moment in [log.steps.count / 3, log.steps.count * 2 / 3, log.steps.count - 1] {
            let state = log.steps[moment].state
            for account in state.accounts.keys {
                let whole = try Self.page(log, of: account, at: moment, after: nil, limit: 10_000)
                let survivor = log.survivor(of: account, at: moment)
                let family = Set(
                    state.accounts.keys.filter {
                        log.survivor(of: $0, at: moment) == survivor
                    })
                #expect(whole.survivor == survivor)
                #expect(Set(whole.accounts.map(\.id)) == family)
                let touching = log.steps[...moment].indices.filter { index in
                    log.steps[index].recorded.accounts.contains { family.contains($0.id) }
                }
                #expect(
                    whole.rows.map(\.recorded) == touching.map { log.steps[$0].recorded })
                #expect(whole.eventCount == Int64(touching.count) && !whole.hasMore)
                for (row, index) in zip(whole.rows, touching) {
                    expect(row, at: index, of: log, family)
                }
            }
        }
    }

    @Test(arguments: Array(UInt64(1)...6), [1, 3, 7])
    func `pages make the whole, whatever their size and order`(seed: UInt64, limit: Int) throws {
        let log = try RandomLog(seed: seed, commands: 120)
        for order in ReadingOrder.allCases { try expectPages(log, limit: limit, order) }
    }

    private func expectPages(_ log: RandomLog, limit: Int, _ order: ReadingOrder) throws {
        let moment = log.steps.count - 1
        for account in log.steps[moment].state.accounts.keys {
            let whole = try Self.page(log, of: account, at: moment, after: nil, limit: 10_000)
            let all = order == .oldest ? whole.rows : whole.rows.reversed()
            var rows: [TimelineRow] = []
            var cursor: TimelineCursor?
            while true {
                let page = try Self.page(
                    log, of: account, at: moment, after: cursor?.position, limit: limit, order)
                #expect(page.eventCount == whole.eventCount)
                #expect(page.rows.count == limit || !page.hasMore)
                rows += page.rows
                guard page.hasMore else { break }
                cursor = page.next
            }
            #expect(rows.map(\.recorded) == all.map(\.recorded))
            #expect(rows.map(\.changes) == all.map(\.changes))
        }
    }

    @Test func `random histories have families, and families whose merges were undone`() throws {
        var undone = 0
        var largest = 0
        for seed in UInt64(1)...20 {
            let log = try RandomLog(seed: seed, commands: 300)
            undone += log.steps.count { $0.recorded.event.name == .accountsUnmerged }
            let moment = log.steps.count - 1
            let state = log.steps[moment].state
            for account in state.accounts.keys {
                let survivor = log.survivor(of: account, at: moment)
                largest = max(
                    largest,
                    state.accounts.keys.count {
                        log.survivor(of: $0, at: moment) == survivor
                    })
            }
        }
        #expect(undone > 2 && largest > 2, "\(undone) undone, families of \(largest)")
    }

    @Test(
        arguments: [
            ("0-0", 0, 0), ("41-99", 41, 99),
            ("7-9223372036854775806", 7, 9_223_372_036_854_775_806),
        ] as [(String, Int64, Int64)])
    func `a cursor is read as it was written`(text: String, position: Int64, asOf: Int64) {
        let cursor = TimelineCursor(position: LogPosition(position), asOf: LogPosition(asOf))
        #expect(cursor.description == text && TimelineCursor(text) == cursor)
    }

    @Test(arguments: [
        "", "-", "1", "1-", "-1", "2-1", "01-2", "1-02", "1-2-3", "1 -2", "1--2", "+1-2", "١-٢",
        "1-9223372036854775807", "2026-11-21",
    ])
    func `a malformed cursor is refused`(text: String) {
        #expect(TimelineCursor(text) == nil)
    }

    private func expect(
        _ row: TimelineRow, at index: Int, of log: RandomLog, _ family: Set<AccountID>
    ) {
        let touched = row.recorded.accounts.map(\.id).filter { family.contains($0) }
        #expect(Set(row.changes.keys) == Set(touched))
        for (account, change) in row.changes {
            let before = log.state(before: index).accounts[account]?.links ?? []
            #expect(change.before == before)
            #expect(change.after == log.steps[index].state.accounts[account]?.links)
        }
    }

    private static func page(
        _ log: RandomLog, of account: AccountID, at moment: Int, after: LogPosition?, limit: Int,
        _ order: ReadingOrder = .oldest
    ) throws -> TimelinePage {
        var fold = TimelineFold(
            of: account, in: .default, after: after, limit: limit, order: order)
        while let wanted = fold.wanted {
            for step in log.steps[...moment]
            where step.recorded.accounts.contains(where: { $0.id == wanted }) {
                try fold.apply(step.recorded, leaf: step.leaf)
            }
            try fold.finish(.log)
        }
        let last = log.steps[moment].recorded
        return fold.page(
            asOf: LogMark(position: last.position, recordedAt: last.recordedAt),
            log: LogExtent(size: Int64(log.steps.count), signedSize: nil))
    }
}
