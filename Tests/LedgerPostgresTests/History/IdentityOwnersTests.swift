import Ledger
import LedgerPostgres
import LedgerTestSupport
import Synchronization
import Testing

/// Who held an identity when.
@Suite struct IdentityOwnersTests {
    private final class Tape: Sendable {
        private let holdings = Mutex<[Holding]>([])

        var all: [Holding] { holdings.withLock(\.self) }

        func add(_ holding: Holding) {
            holdings.withLock { $0.append(holding) }
        }
    }

    @Test(arguments: [UInt64(42), 44])
    func `at every position the holder is whom the whole log says`(seed: UInt64) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var commands = RandomCommands(seed: seed, subjectsPerProvider: 2)
                for _ in 0..<110 {
                    commands.learn(try await fixture.sequencer.submit(commands.next()))
                }
                let owners = IdentityOwners(url: database.runtimeURL)
                var moved = 0
                for (provider, name) in Self.subjects {
                    var state = LedgerState(tenant: .default)
                    var expected: [Holding] = []
                    for event in try await fixture.log() {
                        try state.apply(event.recorded, leaf: event.leaf)
                        let tape = Tape()
                        let found = try await owners.owners(
                            of: subject(provider, name), asOf: .position(event.recorded.position),
                            in: .default, emit: { tape.add($0) })
                        guard let found else { break }
                        take(event.recorded, of: found.identity, into: &expected)
                        #expect(tape.all == expected)
                        #expect(
                            found.holding?.account == state.identities[found.identity]?.account)
                    }
                    moved += Set(expected.map(\.account)).count > 1 ? 1 : 0
                }
                #expect(moved > 0, "some identity had several holders")
                await owners.close()
            }
        }
    }

    private static let subjects = RandomCommands.providers.flatMap { provider in
        (0..<2).map { (provider.description, "subject-\($0)") }
    }

    private func take(
        _ recorded: RecordedEvent, of identity: IdentityID, into holdings: inout [Holding]
    ) {
        let mark = LogMark(position: recorded.position, recordedAt: recorded.recordedAt)
        switch recorded.event {
        case .providerLinked(let fact) where fact.identity == identity:
            holdings.append(Holding(account: fact.account, from: mark, until: nil))
        case .providerUnlinked(let fact) where fact.identity == identity:
            let last = holdings.removeLast()
            holdings.append(Holding(account: last.account, from: last.from, until: mark))
        case .accountsMerged(let fact):
            if fact.moved.contains(where: { $0.identity == identity }) {
                end(&holdings, at: mark)
                holdings.append(Holding(account: fact.survivor, from: mark, until: nil))
            } else if (fact.dropped + fact.replaced).contains(where: { $0.identity == identity }) {
                end(&holdings, at: mark)
            }
        case .accountsUnmerged(let fact):
            if fact.returned.contains(where: { $0.identity == identity }) {
                if holdings.last?.until == nil { end(&holdings, at: mark) }
                holdings.append(Holding(account: fact.absorbed, from: mark, until: nil))
            } else if fact.restored.contains(where: { $0.identity == identity }) {
                holdings.append(Holding(account: fact.survivor, from: mark, until: nil))
            }
        default: break
        }
    }

    private func end(_ holdings: inout [Holding], at mark: LogMark) {
        guard let last = holdings.popLast() else { return }
        holdings.append(Holding(account: last.account, from: last.from, until: mark))
    }

    @Test func `a subject that never came is not known`() async throws {
        try await HistoryFixture.with { history in
            let owners = IdentityOwners(url: history.database.runtimeURL)
            let found = try await owners.owners(
                of: subject("apple", "nobody"), asOf: nil, in: .default, emit: { _ in })
            #expect(found == nil)
        }
    }

    @Test(arguments: [
        "DELETE FROM events WHERE position = 6", "DELETE FROM events WHERE position = 11",
        "UPDATE events SET entry = set_byte(entry, 20, 0) WHERE position = 4",
        "UPDATE identities SET account_id = last_account_id WHERE provider_id = 'ada-g'",
        """
        UPDATE events SET entry = convert_to(replace(convert_from(entry, 'UTF8'),
            'ProviderUnlinked', 'UnlinkRejected'), 'UTF8') WHERE position = 9
        """,
    ])
    func `a log that is not whole gives no answer`(damage: String) async throws {
        try await HistoryFixture.with { history in
            try await history.damage(damage)
            let owners = IdentityOwners(url: history.database.runtimeURL)
            await #expect(throws: LogDamage.self) {
                try await owners.owners(
                    of: subject("google", "ada-g"), asOf: nil, in: .default, emit: { _ in })
            }
        }
    }
}
