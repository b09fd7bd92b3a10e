import Ledger
import LedgerAudit
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Synchronization
import Testing

/// The owners of an identity over time.
@Suite struct IdentityOwnersTests {
    private final class EmittedEvents: Sendable {
        private let holdings = Mutex<[Holding]>([])

        var all: [Holding] { holdings.withLock(\.self) }

        func add(_ holding: Holding) {
            holdings.withLock { $0.append(holding) }
        }
    }

    @Test(arguments: [UInt64(4), 9])
    func `at every position the holder matches the fold of the whole log`(seed: UInt64) async throws
    {
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
                        let tape = EmittedEvents()
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

    @Test func `a subject that never signed in is unknown`() async throws {
        try await HistoryFixture.with { history in
            let owners = IdentityOwners(url: history.database.runtimeURL)
            let found = try await owners.owners(
                of: subject("apple", "nobody"), asOf: nil, in: .default, emit: { _ in })
            #expect(found == nil)
        }
    }

    @Test func `a time means the last event recorded by then`() async throws {
        try await HistoryFixture.with { history in
            let owners = IdentityOwners(url: history.database.runtimeURL)
            let log = try await EventReads(
                url: history.database.runtimeURL, keyring: SequencerFixture.keyring,
                onFault: { _ in }
            ).events(matching: EventQuery(limit: 100), in: .default, isDisclosing: false).elements
            for event in log {
                let time = try #require(event.recorded?.recordedAt)
                for moment in [time, Timestamp(microseconds: time.microseconds - 1)] {
                    let tape = EmittedEvents()
                    let found = try #require(
                        await owners.owners(
                            of: subject("google", "ada-g"), asOf: .time(moment), in: .default,
                            emit: { tape.add($0) }))
                    let past = log.prefix { $0.recorded.map { $0.recordedAt <= moment } ?? false }
                    #expect(found.asOf?.position == past.last?.position)
                    let last = past.last?.position.value ?? -1
                    let isHeld = (4..<9).contains(last)
                    #expect(found.holding?.account == (isHeld ? history.ada.account : nil))
                    #expect(tape.all.map(\.from.position.value) == (last < 4 ? [] : [4]))
                    let until: Int64? = last < 9 ? nil : 9
                    #expect(tape.all.map(\.until?.position.value) == (last < 4 ? [] : [until]))
                }
            }
        }
    }

    @Test func `an erasure ends a holding, even if the table was restored`() async throws {
        try await ErasureFixture.with(owner: .plain) { fixture in
            let sql = fixture.database.asSuperuser
            try await sql.execute("CREATE TABLE kept AS SELECT * FROM identities")
            var story = fixture.story
            guard case .erased(let erased, _, _) = try await story.erase(fixture.ada.account).get()
            else { throw Unexpected(what: "not erased") }
            _ = try await story.signIn("google", "bob")
            let owners = IdentityOwners(url: fixture.database.runtimeURL)
            let ask = { (moment: Moment?) in
                let tape = EmittedEvents()
                let found = try await owners.owners(
                    of: subject("apple", "subject-of-ada"), asOf: moment, in: .default,
                    emit: { tape.add($0) })
                return (found, tape.all)
            }
            // Nothing tells which identity it was any more.
            #expect(try await ask(nil).0 == nil)
            #expect(try await ask(.position(LogPosition(3))).0 == nil)
            try await sql.execute(
                """
                INSERT INTO identities SELECT * FROM kept WHERE provider_id = 'subject-of-ada'
                """)
            let (before, lasting) = try await ask(.position(LogPosition(erased.value - 1)))
            #expect(before?.holding?.account == fixture.ada.account)
            #expect(lasting.map(\.until) == [nil])
            let (after, ended) = try await ask(.position(erased))
            #expect(after != nil && after?.holding == nil)
            #expect(ended.map(\.account) == [fixture.ada.account])
            #expect(ended.map(\.until?.position) == [erased])
            // For the present, the table contradicts it.
            await #expect(throws: LogDamage.self) { try await ask(nil) }
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
    func `a damaged log gives no answer`(damage: String) async throws {
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
