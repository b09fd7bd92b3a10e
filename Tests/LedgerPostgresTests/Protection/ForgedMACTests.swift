import Ledger
import LedgerTestSupport
import Postgres
import Testing
import TransparencyLog

@testable import LedgerAudit
@testable import LedgerEngine
@testable import LedgerPostgres

/// An event written with a server's login to the database and without a key: no reader passes it on.
@Suite struct ForgedMACTests {
    /// The forged events: well-formed facts without disclosures, which the pure model accepts.
    enum Kind: String, CaseIterable, Sendable {
        case providerLinked, accountsMerged, legalHoldSet, signedIn

        func append(to forger: inout Forger, victim: Guest, other: Guest) throws {
            let holder = Actor.account(victim.account, session: victim.caller.session)
            let support = Actor.principal(Principal(key: APIKeyID(bits: 7), role: .support))
            switch self {
            case .providerLinked:
                try forger.link("thief", of: "facebook", to: victim.account, by: holder)
            case .accountsMerged:
                try forger.merge(victim.account, into: other.account, by: support)
            case .legalHoldSet:
                let hold = LegalHoldSet(account: victim.account, hold: forger.newID())
                try forger.append(.legalHoldSet(hold), by: support)
            case .signedIn:
                let link = try #require(forger.state.accounts[victim.account]?.links.first)
                let fact = SignedIn(
                    account: victim.account, authenticatedAt: forger.state.lastRecordedAt,
                    identity: link.identity, methods: .federated, provider: link.provider,
                    session: forger.newID())
                try forger.append(.signedIn(fact), by: holder)
            }
        }
    }

    /// A protected log of Ada and Bob, folded, sealed and delivered, followed by a forged event.
    private struct Scene {
        let database: ScratchDatabase
        let ledger: SequencerFixture
        let sealing: SealingFixture
        let ada: Guest
        let forged: RecordedEvent

        var position: Int64 { forged.position.value }
    }

    private static func with(
        _ kind: Kind, _ body: (Scene) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database, isProtected: true) { ledger in
                var story = Story(ledger.sequencer)
                let ada = try await story.signIn("apple", "ada", email: "ada@example.com")
                let bob = try await story.signIn("google", "bob")
                try await database.fold()
                try await SealingFixture.with(database) { sealing in
                    #expect(try await sealing.sealOnce().refusals.isEmpty)
                    var forger = try await Forger(database)
                    try kind.append(to: &forger, victim: ada, other: bob)
                    // With a MAC that is valid elsewhere.
                    try await database.asRuntime.execute(
                        forger.sql.replacing(
                            "decode(repeat('00', 20), 'hex')",
                            with: "(SELECT mac FROM events WHERE position = 1)"))
                    let forged = try #require(try await ledger.log().last?.recorded)
                    try await body(
                        Scene(
                            database: database, ledger: ledger, sealing: sealing, ada: ada,
                            forged: forged))
                }
            }
        }
    }

    private static let fault = "the event was not appended by a server: its MAC is wrong"

    @Test(arguments: Kind.allCases)
    func `the projector stops before it`(kind: Kind) async throws {
        try await Self.with(kind) { scene in
            try await scene.database.fold()
            for status in try await scene.database.projector().status() {
                #expect(status.position == scene.forged.position)
                #expect(status.failure?.contains(Self.fault) == true, "\(status)")
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func `webhooks deliver the events before it and report it`(kind: Kind) async throws {
        try await Self.with(kind) { scene in
            let fixture = WebhookFixture(database: scene.database, sequencer: scene.ledger)
            _ = try await fixture.add()
            let faults = TestFaults()
            try await fixture.running(fixture.dispatcher(telling: faults)) {
                try await soon("a complaint") {
                    faults.all.contains { $0.contains("\(scene.position): \(Self.fault)") }
                }
                try await soon("the events before it") {
                    fixture.receiver.positions.count >= Int(scene.position)
                }
            }
            #expect(Set(fixture.receiver.positions) == Set(0..<scene.position))
            let taken = try await scene.database.asSuperuser.texts(
                """
                SELECT 'cursor' FROM webhook_cursors WHERE next_position > \(scene.position)
                UNION ALL
                SELECT 'delivery' FROM webhook_deliveries WHERE position >= \(scene.position)
                """)
            #expect(taken.isEmpty, "it is not even taken in")
        }
    }

    @Test func `pending events are checked again before they are sent`() async throws {
        try await Self.with(.signedIn) { scene in
            let fixture = WebhookFixture(database: scene.database, sequencer: scene.ledger)
            _ = try await fixture.add(from: scene.position)
            // Like a thief when the events are already enqueued.
            try await scene.database.asRuntime.execute(
                """
                INSERT INTO webhook_deliveries (tenant_id, endpoint_id, position, event_id, type,
                    accounts, state, attempts, next_attempt_at)
                SELECT tenant_id, endpoint_id, \(scene.position), '\(scene.forged.id)', 'SignedIn',
                    ARRAY['\(scene.ada.account)']::uuid[], 'pending', 0, 'epoch' FROM webhook_cursors;
                UPDATE webhook_cursors SET next_position = \(scene.position + 1)
                """)
            let faults = TestFaults()
            try await fixture.running(fixture.dispatcher(telling: faults)) {
                try await soon("a complaint") {
                    faults.all.contains { $0.contains("\(scene.position): \(Self.fault)") }
                }
            }
            #expect(fixture.receiver.requests.isEmpty)
        }
    }

    @Test(arguments: Kind.allCases)
    func `reads of the log end before it, and raise one alarm`(kind: Kind) async throws {
        try await Self.with(kind) { scene in
            let faults = TestFaults()
            let reads = EventReads(
                url: scene.database.runtimeURL, keyring: SequencerFixture.keyring
            ) { faults.add($0) }
            var query = EventQuery(limit: 100)
            for _ in 0..<2 {
                let page = try await reads.events(
                    matching: query, in: .default, isDisclosing: true)
                #expect(page.elements.map(\.position.value) == Array(0..<scene.position))
                #expect(page.cursor == scene.position - 1 && page.hasMore)
            }
            query.after = LogPosition(scene.position - 1)
            await #expect(throws: LedgerFault.internalFailure) {
                try await reads.events(matching: query, in: .default, isDisclosing: false)
            }
            query.order = .newest
            query.after = LogPosition(scene.position + 1)
            await #expect(throws: LedgerFault.internalFailure) {
                try await reads.events(matching: query, in: .default, isDisclosing: false)
            }
            query.after = LogPosition(scene.position)
            let back = try await reads.events(matching: query, in: .default, isDisclosing: false)
            #expect(
                back.elements.map(\.position.value) == (0..<scene.position).reversed()
                    && !back.hasMore)
            await #expect(throws: LedgerFault.internalFailure) {
                try await reads.event(scene.forged.id, in: .default, isDisclosing: false)
            }
            await reads.close()
            #expect(
                faults.all == [
                    "an event of tenant default is not shown: position \(scene.position): \(Self.fault)"
                ])
        }
    }

    @Test(arguments: Kind.allCases)
    func `histories and exports are incomplete`(kind: Kind) async throws {
        try await Self.with(kind) { scene in
            let histories = HistoryReads(
                url: scene.database.runtimeURL, keyring: SequencerFixture.keyring)
            let fault = await #expect(throws: HistoryFault.self) {
                try await histories.history(
                    of: scene.ada.account, after: nil, asOf: nil, limit: 100, isDisclosing: false,
                    in: .default)
            }
            #expect(
                fault.map { "\($0)".contains(Self.fault) } == true, "\(String(describing: fault))")
            await histories.close()
            let exporter = Exporter(
                url: scene.database.runtimeURL, keyring: nil,
                macs: SequencerFixture.keyring.macs)
            let failure = await #expect(throws: ExportFailure.self) {
                _ = try await exporter.all(in: .default, basis: nil) { _ in }
            }
            #expect(failure?.description.contains(Self.fault) == true)
            let basis = try await exporter.basis(of: .default, since: nil)
            #expect(basis.checkpoint.size == scene.position, "a bundle ends before it")
            await exporter.close()
        }
    }

    @Test(arguments: Kind.allCases)
    func `searches and replays leave it out`(kind: Kind) async throws {
        try await Self.with(kind) { scene in
            let request = try #require(scene.forged.request)
            for term in ["\(scene.forged.id)", "\(request)"] {
                let found = try await scene.database.search(term)
                #expect(found.events.isEmpty, "\(term)")
            }
            let last = LogPosition(scene.position)
            for macs in [SequencerFixture.keyring.macs, nil] {
                let replay = Replay(url: scene.database.runtimeURL, keyring: nil, macs: macs)
                let summary = try await replay.range(
                    from: LogPosition(0), through: last, in: .default
                ) { _ in }
                await replay.close()
                #expect(summary.events == scene.position + (macs == nil ? 1 : 0))
                #expect(
                    summary.findings
                        == (macs == nil ? [] : [LogDamage(position: last, fault: Self.fault)]))
            }
        }
    }

    @Test func `no holder of an identity is read from it`() async throws {
        try await Self.with(.providerLinked) { scene in
            let owners = IdentityOwners(
                url: scene.database.runtimeURL, macs: SequencerFixture.keyring.macs)
            await #expect(throws: LogDamage(position: scene.forged.position, fault: Self.fault)) {
                _ = try await owners.owners(
                    of: subject("facebook", "thief"), asOf: nil, in: .default
                ) { _ in }
            }
            await owners.close()
        }
    }

    @Test(arguments: Kind.allCases)
    func `a sealer refuses it and continues with other tenants`(kind: Kind) async throws {
        try await Self.with(kind) { scene in
            try await scene.ledger.open(tenant("acme"))
            for _ in 0..<2 {
                let round = try await scene.sealing.sealOnce()
                #expect(
                    round.refusals == [
                        .default: .unauthentic(
                            LogDamage(position: scene.forged.position, fault: Self.fault))
                    ])
                #expect(round.signed[tenant("acme")] == 1)
            }
            #expect(try await scene.sealing.checkpoints().last?.size == scene.position)
            let store = scene.sealing.store()
            let logState = try await store.logState(of: .default)
            #expect(
                logState.hashCount == StoredHashIndex.count(leaves: scene.position),
                "it is not even hashed")
            // If its hash is already stored, the second read before signing finds it.
            let reread = try await store.reread(
                scene.position - 1..<scene.position + 1, of: .default)
            #expect(throws: SealingRefusal.self) { try reread.expectAuthentic() }
            await store.close()
        }
    }

    @Test func `verify names an event of which nothing but the code is wrong`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database, isProtected: true) { ledger in
                _ = try await ledger.signIn(subject("apple", "ada"))
                try await database.asSuperuser.execute(
                    """
                    ALTER EVENT TRIGGER ledger_guard_ddl DISABLE;
                    ALTER TABLE events DISABLE TRIGGER USER;
                    UPDATE events SET mac = (SELECT mac FROM events WHERE position = 1)
                    WHERE position = 2
                    """)
                let verifier = Verifier(
                    url: database.runtimeURL, keyring: SequencerFixture.keyring)
                let report = try await verifier.run()
                await verifier.close()
                #expect(report.findings.map(\.text) == [Self.fault], "\(report.findings)")
                #expect(report.findings.first?.position == LogPosition(2))
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func `verify names it, and no command is decided after it`(kind: Kind) async throws {
        try await Self.with(kind) { scene in
            let verifier = Verifier(
                url: scene.database.runtimeURL, keyring: SequencerFixture.keyring)
            let report = try await verifier.run()
            await verifier.close()
            #expect(report.checksMACs)
            let finding = report.findings.first { $0.check == .macs }
            #expect(finding?.position == scene.forged.position && finding?.text == Self.fault)
            let blind = Verifier(url: scene.database.runtimeURL, keyring: nil)
            let unseen = try await blind.run()
            await blind.close()
            #expect(!unseen.checksMACs && !unseen.findings.contains { $0.check == .macs })
            await #expect(throws: LedgerFault.internalFailure) {
                _ = try await scene.ledger.signIn(subject("apple", "ada"))
            }
        }
    }
}
