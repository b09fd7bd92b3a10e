import Ledger
import LedgerTestSupport
import Synchronization
import Testing

@testable import LedgerPostgres

/// What a sealer says of its logs, and how long it rests, by a clock that only the test moves.
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

    @Test func `what others have signed is not what this process has found in place`() throws {
        note(size: 8, isHeld: false)
        board.noteSigned(elsewhere: 10, of: .default)
        // Taken over, but the look at it was broken off.
        note(size: 8)
        let taken = try #require(board.statuses.first)
        #expect(taken.isHeld && taken.signed == 10 && !taken.isSignedHere)
        note(size: 10, signed: 10)
        #expect(try #require(board.statuses.first).isSignedHere)
        note(size: 10, isHeld: false)
        #expect(try !#require(board.statuses.first).isSignedHere)
    }

    @Test func `a log of which nothing is signed for too long is stuck`() {
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
        #expect(!isStuck, "it comes on")
        clock.advance(31)
        #expect(isStuck)
        note(size: 20, signed: 20)
        #expect(!isStuck)
    }

    @Test func `a log that somebody else has, and does not seal, is stuck as well`() {
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
        #expect(!isStuck, "it comes on")
        clock.advance(11)
        #expect(isStuck)
        board.noteSigned(elsewhere: 12, of: .default)
        #expect(!isStuck)
    }

    @Test func `a sealer that can look at no log is not current`() {
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

    @Test func `a clean audit lifts no refusal, it only has the log tried again`() {
        let found = SealingRefusal.hashesWentBack(signed: 5)
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

    @Test func `what an audit finds stands, though the end of the log can be signed`() {
        note(signed: 10)
        let found = SealingRefusal.hashesDamaged
        #expect(board.noteAudit(of: .default, refusal: found))
        #expect(!board.noteAudit(of: .default, refusal: found))
        note(signed: 10)
        #expect(refusal == found && board.isResting(.default))
    }

    @Test func `a refusal stays when the lease goes, until an audit has found everything in place`()
    {
        note(refusal: .hashesDamaged)
        note(isHeld: false)
        #expect(refusal == .hashesDamaged)
        board.noteAudit(of: .default, size: 10)
        #expect(refusal == nil && !board.isResting(.default))
    }

    @Test func `a log that only this process can't seal is left to others for a while`() {
        note(refusal: .recordUnfit("x"))
        #expect(board.left == [.default])
        note(isHeld: false)
        #expect(board.left == [.default] && refusal == .recordUnfit("x"))
        clock.advance(6)
        #expect(board.left.isEmpty)
        note(refusal: .hashesDamaged)
        #expect(board.left.isEmpty)
    }

    @Test func `a log that was not tried keeps its refusal`() {
        note(refusal: .recordUnfit("x"))
        clock.advance(3)
        #expect(board.isResting(.default))
        clock.advance(3)
        #expect(!board.isResting(.default))
        // The pause ended while the look was under way.
        note()
        #expect(refusal == .recordUnfit("x"))
    }

    // MARK: - Rests

    /// Commits at every millisecond of half a minute, by this process or by another one.
    @Test(arguments: [0, 20, 60, 100])
    func `a look begins within 100 ms of a commit, and so one that takes 100 ms ends within 200`(
        lookMilliseconds: Int
    ) {
        var generator = SeededGenerator(seed: UInt64(lookMilliseconds))
        var pace = SealingPace(pause: .milliseconds(100), poll: .milliseconds(100))
        var now = 0
        var commits: [(at: Int, isOurs: Bool)] = []
        var worst = 0
        while now < 30_000 {
            let start = now
            // What was committed before the look began is signed by it.
            let signed = commits.filter { $0.at <= start }
            commits.removeAll { $0.at <= start }
            now += lookMilliseconds
            for commit in signed { worst = max(worst, now - commit.at) }
            var round = LogSealing.Round()
            round.publishedCount = signed.count
            let rest = pace.rest(after: round, took: .milliseconds(now - start))
            let (sleep, wait) = (milliseconds(rest.sleep), milliseconds(rest.wait))
            // Between this look's beginning and the next one's, anything may be committed.
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

    @Test func `a log that was left before its end is gone on with at once`() {
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

    @Test func `a look at so many logs that it takes long is followed by a rest`() {
        var pace = SealingPace(pause: .milliseconds(100), poll: .milliseconds(100))
        var round = LogSealing.Round()
        round.publishedCount = 100
        #expect(
            pace.rest(after: round, took: .milliseconds(350))
                == SealingPace.Rest(sleep: .milliseconds(250), wait: .zero))
        round.publishedCount = 0
        #expect(
            pace.rest(after: round, took: .milliseconds(350)) == SealingPace.Rest(),
            "nothing was signed: what came meanwhile need not wait")
    }

    @Test func `a database that is away is asked less and less often`() {
        var pace = SealingPace(pause: .milliseconds(100), poll: .milliseconds(100))
        let rests = (0..<8).map { _ in milliseconds(pace.restAfterFault().sleep) }
        #expect(rests == [50, 100, 200, 400, 800, 1_600, 2_000, 2_000])
        _ = pace.rest(after: LogSealing.Round(), took: .zero)
        #expect(pace.restAfterFault().sleep == .milliseconds(50))
    }
}
