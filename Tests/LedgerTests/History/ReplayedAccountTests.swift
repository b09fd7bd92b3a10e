import Ledger
import LedgerTestSupport
import Testing

/// The fold of one account's own events, against the fold of the whole log.
@Suite struct ReplayedAccountTests {
    @Test(arguments: ModelHistoryTests.seeds)
    func `at every position every account matches the fold of the whole log`(seed: UInt64) throws {
        var replayed: [AccountID: ReplayedAccount] = [:]
        for step in try RandomLog(seed: seed, commands: 250).steps {
            for reference in step.recorded.accounts {
                var account =
                    replayed[reference.id] ?? ReplayedAccount(reference.id, in: .default)
                #expect(account.expects(reference))
                try account.apply(step.recorded, leaf: step.leaf)
                replayed[reference.id] = account
            }
            #expect(Set(replayed.keys) == Set(step.state.accounts.keys))
            for account in replayed.values { expect(account, like: step.state) }
        }
        #expect(replayed.count > 3, "the history has more than a few accounts")
    }

    @Test func `an event that cannot follow leaves the account unchanged`() throws {
        let events = try RandomLog(seed: 1, commands: 250).steps
        let id = try #require(events.first { !$0.recorded.accounts.isEmpty }?.recorded.accounts[0])
        let own = events.filter { $0.recorded.accounts.contains { $0.id == id.id } }
        for missing in own.indices.dropLast() {
            var account = ReplayedAccount(id.id, in: .default)
            for event in own[..<missing] { try account.apply(event.recorded, leaf: event.leaf) }
            let before = account
            #expect(throws: FoldFault.self) {
                try account.apply(own[missing + 1].recorded, leaf: own[missing + 1].leaf)
            }
            #expect(account == before)
            if let repeated = own[..<missing].last {
                #expect(throws: FoldFault.self) {
                    try account.apply(repeated.recorded, leaf: repeated.leaf)
                }
            }
            #expect(account == before)
        }
    }

    @Test(arguments: ModelHistoryTests.seeds.prefix(8))
    func `a difference added to the earlier state is the later one`(seed: UInt64) throws {
        let events = try RandomLog(seed: seed, commands: 120).steps
        for id in Set(events.flatMap { $0.recorded.accounts.map(\.id) }) {
            var moments = [ReplayedAccount(id, in: .default)]
            for event in events where event.recorded.accounts.contains(where: { $0.id == id }) {
                var account = moments[moments.count - 1]
                try account.apply(event.recorded, leaf: event.leaf)
                moments.append(account)
            }
            for (index, from) in moments.enumerated() {
                for to in moments[index...] {
                    let difference = AccountDifference(from: from, to: to)
                    let links = from.links.filter { !difference.removedLinks.contains($0) }
                    // A merge brings links that were made before others.
                    let changed = (links + difference.addedLinks)
                        .sorted { $0.position < $1.position }
                    #expect(changed == to.links)
                    let sessions = from.sessions.filter { !difference.endedSessions.contains($0) }
                    #expect(sessions + difference.openedSessions == to.sessions)
                    #expect(difference.removedLinks.allSatisfy(from.links.contains))
                    #expect(!difference.addedLinks.contains(where: from.links.contains))
                }
            }
        }
    }

    private func expect(_ account: ReplayedAccount, like state: LedgerState) {
        let known = state.accounts[account.id]
        #expect(account.links == known?.links)
        #expect(account.linkedProviders == known?.linkedProviders)
        #expect(account.eventCount == known?.nextSequence)
        #expect(account.lastLeaf == known?.lastLeaf)
        #expect(account.last?.position == known?.lastPosition)
        #expect(account.opened?.position == known?.openedPosition)
        let live = state.sessions.values.filter {
            $0.account == account.id && $0.endedPosition == nil
        }
        #expect(account.sessions == live.sorted { $0.openedPosition < $1.openedPosition })
        #expect(account.erased?.position == known?.erasedPosition)
        #expect(account.holds == known?.holds ?? [])
    }
}
