import LedgerTestSupport
import Testing

@testable import Ledger

/// The fold of conflicts over random histories, against one that knows every account and checks
/// every conflict after every event.
@Suite struct ConflictHistoryTests {
    private static let seeds = Array(UInt64(1)...16)

    @Test(arguments: seeds)
    func `at every position the conflicts match the fold of the whole log`(seed: UInt64) throws {
        let log = try RandomLog(seed: seed, commands: 260)
        var fold = ConflictFold()
        var naive = NaiveConflicts()
        for (index, step) in log.steps.enumerated() {
            try fold.apply(step.recorded)
            naive.take(index, of: log)
            let found = fold.conflicts
            #expect(found == naive.conflicts, "after \(step.recorded.event)")
            guard found == naive.conflicts else { return }
        }
    }

    @Test(arguments: seeds.prefix(8))
    func `a page requires only the conflicts that its events name`(seed: UInt64) throws {
        let log = try RandomLog(seed: seed, commands: 260)
        var whole = ConflictFold()
        var stored: [LogPosition: Conflict] = [:]
        var generator = SeededGenerator(seed: seed)
        var rest = log.steps[...]
        while !rest.isEmpty {
            let page = rest.prefix(Int.random(in: 1...30, using: &generator))
            rest = rest.dropFirst(page.count)
            let keys = ConflictFold.Keys(page.map(\.recorded.event))
            var fold = ConflictFold(stored.values.filter { keys.name($0) })
            for step in page {
                try fold.apply(step.recorded)
                try whole.apply(step.recorded)
            }
            for conflict in fold.changes { stored[conflict.first.position] = conflict }
            #expect(
                stored.sorted { $0.key < $1.key }.map(\.value) == whole.conflicts)
        }
    }

    @Test(arguments: seeds)
    func `dropping finished conflicts saves their memory and changes no result`(
        seed: UInt64
    ) throws {
        let log = try RandomLog(seed: seed, commands: 260)
        var whole = ConflictFold()
        var fold = ConflictFold()
        var forgotten: Set<Conflict> = []
        var followedMax = 0
        for step in log.steps {
            try whole.apply(step.recorded)
            try fold.apply(step.recorded)
            let finished = fold.forgetFinished()
            #expect(finished.allSatisfy { !$0.isFollowed && forgotten.insert($0).inserted })
            let followed = Set(fold.followed)
            followedMax = max(followedMax, followed.count)
            #expect(forgotten.union(followed) == Set(whole.conflicts))
        }
        #expect(fold.conflicts.count <= followedMax + 1)
        #expect(!forgotten.isEmpty || whole.conflicts.allSatisfy(\.isFollowed))
    }

    @Test func `a conflict takes little memory`() {
        // verify keeps those of a tenant that events can still change, in bounded memory.
        #expect(MemoryLayout<Conflict>.stride <= 208)
    }

    @Test func `a key has each index once, and none of a finished conflict`() {
        func conflict(_ first: Int64, endedBy type: String? = nil) -> Conflict {
            let mark = Conflict.Mark(
                position: LogPosition(first), event: EventID(bits: UInt128(first)),
                recordedAt: Timestamp(seconds: first))
            return Conflict(
                callers: [AccountID(bits: 1)], reason: .heldByOther, provider: provider("google"),
                identity: IdentityID(bits: 9), holder: nil, holderNow: nil, first: mark, last: mark,
                attempts: 1,
                resolution: type.map { Conflict.Resolution(mark: mark, type: $0, actor: "system") })
        }
        var indexes = ConflictIndex()
        let account = AccountID(bits: 1)
        var conflicts = (Int64(0)..<100).map { conflict($0) }
        for _ in 0..<50 {
            for index in conflicts.indices { indexes.add(index, to: account) }
            let found = indexes.indexes(of: [account], [], merge: nil, in: conflicts)
            #expect(found == Array(0..<100))
            #expect(indexes.count == 100)
        }
        conflicts[7] = conflict(7, endedBy: "AccountsMerged")
        for index in 50..<100 {
            conflicts[index] = conflict(Int64(index), endedBy: "AccountErased")
        }
        let found = indexes.indexes(of: [account], [], merge: nil, in: conflicts)
        #expect(found == Array(0..<50) && indexes.count == 50)
    }

    @Test func `random histories resolve conflicts in every way, and reopen them`() throws {
        var ends: Set<String> = []
        var reopened = 0
        var repeated = 0
        for seed in UInt64(1)...40 {
            var fold = ConflictFold()
            for step in try RandomLog(seed: seed, commands: 260).steps {
                let before = fold.conflicts
                try fold.apply(step.recorded)
                reopened += zip(before, fold.conflicts).count { old, new in
                    old.state == .resolved && new.state == .open
                }
            }
            for conflict in fold.conflicts {
                ends.insert("\(conflict.reason.rawValue) \(conflict.resolution?.type ?? "open")")
                if conflict.attempts > 1 { repeated += 1 }
            }
        }
        #expect(
            ends.isSuperset(of: [
                "held_by_other open", "held_by_other ProviderUnlinked",
                "held_by_other AccountsMerged", "held_by_other AccountErased",
                "provider_taken open", "provider_taken ProviderUnlinked",
            ]), "\(ends.sorted())")
        #expect(reopened > 0 && repeated > 0)
    }
}

/// Conflicts by the definition: open while the caller would be refused for the same reason.
private struct NaiveConflicts {
    private(set) var conflicts: [Conflict] = []

    mutating func take(_ index: Int, of log: RandomLog) {
        let step = log.steps[index]
        let attempt = note(step.recorded)
        for index in conflicts.indices {
            let old = conflicts[index]
            var resolution = old.resolution
            guard resolution == nil || resolution?.type == "AccountsMerged" else { continue }
            var callers = [old.caller]
            while let next = step.absorbing[callers[callers.count - 1]] { callers.append(next) }
            var holder = old.identity.flatMap { step.state.identities[$0]?.account }
            let stands =
                stands(old, callers: callers, holder: holder, step.state)
                && !Self.shows(step.recorded.event, thatSeveralAreAllowedTo: callers.last, old)
            if resolution == nil {
                if !stands, index != attempt { resolution = Conflict.Resolution(step.recorded) }
            } else if case .accountErased(let fact) = step.recorded.event,
                fact.account == old.caller
            {
                resolution = Conflict.Resolution(step.recorded)
                holder = old.holderNow
            } else if case .accountsUnmerged(let fact) = step.recorded.event, stands,
                resolution?.mark.event == fact.merge, old.reason == .heldByOther,
                holder == fact.survivor || holder == fact.absorbed
            {
                resolution = nil
            } else {
                holder = old.holderNow
            }
            conflicts[index] = Conflict(
                callers: callers, reason: old.reason, provider: old.provider,
                identity: old.identity, holder: old.holder, holderNow: holder, first: old.first,
                last: old.last, attempts: old.attempts, resolution: resolution)
        }
    }

    /// Returns the index of the conflict that an attempt counts for.
    private mutating func note(_ recorded: RecordedEvent) -> Int? {
        guard case .conflictRejected(let fact) = recorded.event, fact.reason != .alreadyYours
        else { return nil }
        let mark = Conflict.Mark(recorded)
        let known = conflicts.lastIndex {
            $0.state == .open && $0.caller == fact.account && $0.reason == fact.reason
                && $0.provider == fact.provider && $0.identity == fact.identity
        }
        let old = known.map { conflicts[$0] }
        let new = Conflict(
            callers: [fact.account], reason: fact.reason, provider: fact.provider,
            identity: fact.identity, holder: old == nil ? fact.holder : old?.holder,
            holderNow: fact.holder, first: old?.first ?? mark, last: mark,
            attempts: (old?.attempts ?? 0) + 1, resolution: nil)
        guard let known else {
            conflicts.append(new)
            return conflicts.count - 1
        }
        conflicts[known] = new
        return known
    }

    private static func shows(
        _ event: Event, thatSeveralAreAllowedTo account: AccountID?, _ conflict: Conflict
    ) -> Bool {
        guard case .providerLinked(let fact) = event else { return false }
        return conflict.reason == .providerTaken && fact.account == account
            && fact.provider == conflict.provider
    }

    private func stands(
        _ conflict: Conflict, callers: [AccountID], holder: AccountID?, _ state: LedgerState
    ) -> Bool {
        guard let caller = callers.last, state.accounts[conflict.caller]?.erasedPosition == nil
        else { return false }
        switch conflict.reason {
        case .heldByOther: return holder != nil && holder != caller
        case .alreadyYours: return false
        case .providerTaken:
            let links = state.accounts[caller]?.links ?? []
            return holder == nil && links.contains { $0.provider == conflict.provider }
        }
    }
}
