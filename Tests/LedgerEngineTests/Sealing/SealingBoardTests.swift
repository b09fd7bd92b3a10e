import Ledger
import LedgerTestSupport
import Synchronization
import Testing

@testable import LedgerEngine

/// The reported state of a sealer's logs and the length of its rests, by a manual clock.
@Suite struct SealingBoardTests {
    private final class HandClock: Sendable {
        private let time = Mutex(ContinuousClock.now)

        var now: ContinuousClock.Instant { time.withLock(\.self) }

        func advance(_ seconds: Int) {
            time.withLock { $0 += .seconds(seconds) }
        }
    }

    private let clock = HandClock()
    private let board: SealingBoard

    init() {
        board = SealingBoard(
            refusalPause: .seconds(5), behindMax: .seconds(30), now: { [clock] in clock.now })
    }

    @discardableResult
    private func note(
        size: Int64 = 10, isHeld: Bool = true, signed: Int64? = nil,
        refusal: SealingRefusal? = nil, fault: String? = nil
    ) -> [SealingRefusal] {
        var round = LogSealing.Round()
        round.logs = [SealerLog(tenant: .default, size: size, isHeld: isHeld)]
        round.signed[.default] = signed
        round.refusals[.default] = refusal
        round.faults[.default] = fault
        return board.note(round).map(\.refusal)
    }

    private var refusal: SealingRefusal? { board.statuses.first?.refusal }
    private var isStuck: Bool { board.statuses.first?.isStuck ?? false }

    @Test func `signatures of others do not count as verified by this process`() throws {
        note(size: 8, isHeld: false)
        board.noteSigned(elsewhere: 10, of: .default)
        // Acquired, but the pass over it was aborted.
        note(size: 8)
        let taken = try #require(board.statuses.first)
        #expect(taken.isHeld && taken.signed == 10 && !taken.isSignedHere)
        note(size: 10, signed: 10)
        #expect(try #require(board.statuses.first).isSignedHere)
        note(size: 10, isHeld: false)
        #expect(try !#require(board.statuses.first).isSignedHere)
    }

    @Test func `a log with unsigned events for too long is stuck`() {
        note(size: 10, signed: 10)
        clock.advance(100)
        #expect(!isStuck, "there is nothing to sign")
        note(size: 12, signed: 10)
        for _ in 0..<3 {
            clock.advance(10)
            note(size: 14, fault: "a lock")
            #expect(!isStuck)
        }
        clock.advance(1)
        #expect(isStuck)
        note(size: 20, signed: 12)
        #expect(!isStuck, "it makes progress")
        clock.advance(31)
        #expect(isStuck)
        note(size: 20, signed: 20)
        #expect(!isStuck)
    }

    @Test func `a log that another process holds and does not seal is also stuck`() {
        note(size: 10, isHeld: false)
        #expect(board.watched == [.default])
        board.noteSigned(elsewhere: 10, of: .default)
        #expect(board.watched.isEmpty)
        clock.advance(31)
        note(size: 12, isHeld: false)
        clock.advance(20)
        board.noteSigned(elsewhere: 11, of: .default)
        clock.advance(20)
        note(size: 12, isHeld: false)
        #expect(!isStuck, "it makes progress")
        clock.advance(11)
        #expect(isStuck)
        #expect(board.statuses.first?.isDown == false, "the other one knows the reason")
        note(size: 12)
        #expect(board.statuses.first?.isDown == true)
        note(size: 12, isHeld: false)
        board.noteSigned(elsewhere: 12, of: .default)
        #expect(!isStuck)
    }

    @Test func `a sealer that can read no log is not current`() {
        note(signed: 10)
        clock.advance(30)
        board.beat()
        #expect(board.isCurrent)
        clock.advance(1)
        board.beat()
        #expect(!board.isCurrent && board.isAlive(within: .seconds(30)))
        note(signed: 10)
        #expect(board.isCurrent)
    }

    @Test func `a clean audit does not end a refusal but lets the log be tried again`() {
        let found = SealingRefusal.hashesTruncated(signed: 5)
        #expect(note(refusal: found) == [found])
        clock.advance(100)
        #expect(board.isResting(.default), "an audit comes first")
        board.noteAudit(of: .default, size: 10)
        #expect(refusal == found && !board.isResting(.default))
        #expect(note(refusal: found) == [], "nothing new")
        #expect(board.isResting(.default))
        board.noteAudit(of: .default, size: 10)
        note(signed: 10)
        #expect(refusal == nil)
    }

    @Test func `a finding of an audit remains, though the end of the log can be signed`() {
        note(signed: 10)
        let found = SealingRefusal.hashesDamaged
        #expect(board.noteAudit(of: .default, refusal: found))
        #expect(!board.noteAudit(of: .default, refusal: found))
        note(signed: 10)
        #expect(refusal == found && board.isResting(.default))
    }

    @Test func `a refusal outlives the lease until an audit finds everything in order`() {
        note(refusal: .hashesDamaged)
        note(isHeld: false)
        #expect(refusal == .hashesDamaged)
        board.noteAudit(of: .default, size: 10)
        #expect(refusal == nil && !board.isResting(.default))
    }

    @Test func `a log that only this process can't seal is released to others for a while`() {
        note(refusal: .recordUnusable("x"))
        #expect(board.left == [.default])
        note(isHeld: false)
        #expect(board.left == [.default] && refusal == .recordUnusable("x"))
        clock.advance(6)
        #expect(board.left.isEmpty)
        note(refusal: .hashesDamaged)
        #expect(board.left.isEmpty)
    }

    @Test func `a log that was not tried keeps its refusal`() {
        note(refusal: .recordUnusable("x"))
        clock.advance(3)
        #expect(board.isResting(.default))
        clock.advance(3)
        #expect(!board.isResting(.default))
        // The pause ended during the pass.
        note()
        #expect(refusal == .recordUnusable("x"))
    }

    // MARK: - Rests

    /// Commits at every millisecond of half a minute, by this process or by another one.
    @Test(arguments: [0, 20, 60, 100])
    func `a pass begins within 100 ms of a commit, so one that takes 100 ms ends within 200`(
        lookMilliseconds: Int
    ) {
        var generator = SeededGenerator(seed: UInt64(lookMilliseconds))
        var pace = SealingPace(pause: .milliseconds(100), poll: .milliseconds(100))
        var now = 0
        var commits: [(at: Int, isOurs: Bool)] = []
        var worst = 0
        while now < 30_000 {
            let start = now
            // The pass signs what was committed before it began.
            let signed = commits.filter { $0.at <= start }
            commits.removeAll { $0.at <= start }
            now += lookMilliseconds
            for commit in signed { worst = max(worst, now - commit.at) }
            var round = LogSealing.Round()
            round.publishedCount = signed.count
            let rest = pace.rest(after: round, took: .milliseconds(now - start))
            let (sleep, wait) = (milliseconds(rest.sleep), milliseconds(rest.wait))
            // Between the start of this pass and of the next one, commits may come at any time.
            var woken = now + sleep + wait
            for at in (start + 1)...(start + 1 + lookMilliseconds + sleep + wait)
            where Int.random(in: 0..<40, using: &generator) == 0 && at <= woken {
                let isOurs = Bool.random(using: &generator)
                commits.append((at, isOurs))
                if isOurs { woken = min(woken, max(at, now + sleep)) }
            }
            commits.removeAll { $0.at > woken }
            now = max(woken, start + 1)
        }
        #expect(worst > 0 && worst <= 200, "\(worst) ms")
    }

    private func milliseconds(_ duration: Duration) -> Int {
        Int(duration / .milliseconds(1))
    }

    @Test func `a log that was left before its end is resumed at once`() {
        var pace = SealingPace(pause: .milliseconds(100), poll: .milliseconds(100))
        var round = LogSealing.Round()
        round.publishedCount = 1
        round.hasMore = true
        #expect(pace.rest(after: round, took: .zero) == SealingPace.Rest())
        round.hasMore = false
        #expect(
            pace.rest(after: round, took: .milliseconds(30))
                == SealingPace.Rest(sleep: .milliseconds(70), wait: .zero))
    }

    @Test func `a long pass over many logs is followed by a rest`() {
        var pace = SealingPace(pause: .milliseconds(100), poll: .milliseconds(100))
        var round = LogSealing.Round()
        round.publishedCount = 100
        #expect(
            pace.rest(after: round, took: .milliseconds(350))
                == SealingPace.Rest(sleep: .milliseconds(250), wait: .zero))
        round.publishedCount = 0
        #expect(
            pace.rest(after: round, took: .milliseconds(350)) == SealingPace.Rest(),
            "nothing was signed: new events need not wait")
    }

    @Test func `an unavailable database is tried less and less often`() {
        var pace = SealingPace(pause: .milliseconds(100), poll: .milliseconds(100))
        let rests = (0..<8).map { _ in milliseconds(pace.restAfterFault().sleep) }
        #expect(rests == [50, 100, 200, 400, 800, 1_600, 2_000, 2_000])
        _ = pace.rest(after: LogSealing.Round(), took: .zero)
        #expect(pace.restAfterFault().sleep == .milliseconds(50))
    }
}
