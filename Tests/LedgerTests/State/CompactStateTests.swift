import LedgerTestSupport
import Testing

@testable import Ledger

/// The compact fold and the full fold agree.
@Suite struct CompactStateTests {
    @Test(arguments: [UInt64(1), 2, 3, 4, 5, 6])
    func `both folds agree after every event of a random history`(seed: UInt64) throws {
        let recordings = try Self.history(seed: seed)
        var large = LedgerState(tenant: .default)
        var small = CompactState(tenant: .default)
        var ended: [SessionID: LogPosition] = [:]
        for recording in recordings {
            try large.apply(recording.recorded, leaf: recording.leaf)
            try small.apply(recording.recorded, leaf: recording.leaf)
            for session in small.endedSessions { ended[session] = recording.recorded.position }
            #expect(small.nextPosition == large.nextPosition)
            #expect(small.lastRecordedAt == large.lastRecordedAt)
            for account in large.accounts.values {
                #expect(small.linkedProviders(of: account.id) == account.linkedProviders)
                #expect(small.hasLinks(account.id) == !account.links.isEmpty)
            }
        }
        var accounts: [AccountID: Account] = [:]
        small.eachAccount { accounts[$0.id] = $0 }
        #expect(accounts.count == large.accounts.count)
        for account in large.accounts.values {
            #expect(accounts[account.id]?.lastLeaf == account.lastLeaf)
            #expect(accounts[account.id]?.lastPosition == account.lastPosition)
            #expect(accounts[account.id]?.nextSequence == account.nextSequence)
            #expect(accounts[account.id]?.holds == account.holds)
            #expect(accounts[account.id]?.erasedPosition == account.erasedPosition)
        }
        var identities: [IdentityID: Identity] = [:]
        small.eachIdentity { number, identity in
            #expect(small.number(of: identity.id) == number)
            identities[identity.id] = identity
        }
        #expect(identities == large.identities.filter { !large.isForgotten($0.value) })
        #expect(ended == large.sessions.compactMapValues(\.endedPosition))
        #expect(ended.count > 5, "the history is long enough to mean something")
    }

    @Test func `both folds refuse impossible events`() throws {
        let recordings = try Self.history(seed: 9)
        for skipped in recordings.indices.dropLast(40) {
            var large = LedgerState(tenant: .default)
            var small = CompactState(tenant: .default)
            for (index, recording) in recordings.enumerated() where index != skipped {
                let recorded = recording.recorded.moved(to: large.nextPosition)
                let one = Result { () throws(FoldFault) in
                    try large.apply(recorded, leaf: recording.leaf)
                }
                let other = Result { () throws(FoldFault) in
                    try small.apply(recorded, leaf: recording.leaf)
                }
                guard case .failure(let fault) = one else {
                    try other.get()
                    continue
                }
                #expect(throws: fault) { try other.get() }
                break
            }
        }
    }

    @Test func `rows are found by their identifiers whatever was removed`() {
        struct Row: IdentifiedRow {
            let id: AccountID
            let number: Int
        }
        var generator = SeededGenerator(seed: 3)
        var table = IdentifierTable<Row>()
        var rows: [AccountID: Int] = [:]
        for number in 0..<20_000 {
            if let gone = rows.keys.first, Int.random(in: 0..<5, using: &generator) < 2 {
                rows[gone] = nil
                table.remove(gone)
                #expect(table.index(of: gone) == nil)
            } else {
                let id: AccountID = generator.id()
                rows[id] = number
                table.insert(Row(id: id, number: number))
            }
        }
        #expect(table.count == rows.count)
        for (id, number) in rows {
            #expect(table.index(of: id).map { table[$0].number } == number)
        }
        #expect(table.index(of: generator.id()) == nil)
    }

    private static func history(seed: UInt64) throws -> [Recording] {
        var policy = RandomCommands.policy(hasEveryType: true)
        policy.severalPerProvider = true
        var commands = RandomCommands(seed: seed, hasEveryType: true)
        var model = ModelLedger(policy: policy, seed: seed)
        for _ in 0..<300 { commands.learn(try model.execute(commands.next())) }
        return model.log
    }
}

extension RecordedEvent {
    fileprivate func moved(to position: LogPosition) -> RecordedEvent {
        RecordedEvent(
            tenant: tenant, position: position, id: id, recordedAt: recordedAt, actor: actor,
            command: command, request: request, accounts: accounts,
            disclosureDigests: disclosureDigests, event: event)
    }
}
