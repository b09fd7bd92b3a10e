import Cryptography
import Encodings
import Ledger
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerAudit
@testable import LedgerEngine
@testable import LedgerPostgres

/// The MACs that are valid at each position of a log.
@Suite struct LogProtectionTests {
    private typealias Fixture = SequencerFixture

    private static let otherLeaf = sha256([1])

    private static func protection(
        _ database: ScratchDatabase, of tenant: TenantID = .default,
        keys: MACKeys = SequencerFixture.keyring.macs
    ) async throws -> LogProtection {
        try await database.asRuntime.with { connection in
            try LogProtection.read(of: tenant, keys: keys, on: connection)
        }
    }

    /// The stored MACs of a log.
    private static func macs(
        _ database: ScratchDatabase, of tenant: TenantID = .default
    ) async throws -> [[UInt8]] {
        try await database.asRuntime.with { connection in
            let rows = try connection.query(
                Statement(
                    "macs", "SELECT mac FROM events WHERE tenant_id = $1::text ORDER BY position"),
                [.text(tenant.description)])
            return try (0..<rows.rowCount).map { try rows.bytes($0, 0) }
        }
    }

    /// Returns a MAC made with a key for any position.
    private static func mac(
        _ key: MACKey, of event: StoredEvent, in log: [StoredEvent], tenant: TenantID = .default,
        number: Int64 = 1, at position: LogPosition? = nil
    ) throws -> [UInt8] {
        let first = try #require(log.first)
        return key.mac(
            of: .entry(
                tenant: tenant, log: first.recorded.id, number: number,
                position: position ?? event.recorded.position, leaf: event.leaf)
        ).bytes
    }

    @Test func `a MAC is valid only at its own position of its own log`() async throws {
        try await ScratchDatabase.with { database in
            try await Fixture.with(database, isProtected: true) { fixture in
                let acme = tenant("acme")
                try await fixture.open(acme)
                _ = try await fixture.signIn(subject("apple", "ada"))
                let log = try await fixture.log()
                let macs = try await Self.macs(database)
                let protection = try await Self.protection(database)
                let others = try await Self.protection(database, of: acme)
                #expect(protection.protectedFrom == LogPosition(0) && log.count == 4)
                for (event, mac) in zip(log, macs) {
                    let position = event.recorded.position
                    #expect(try protection.check(mac, at: position, leaf: event.leaf))
                    #expect(mac == (try Self.mac(Fixture.macKey, of: event, in: log)))
                    #expect(throws: LogDamage.self, "another position") {
                        try protection.check(mac, at: position.next, leaf: event.leaf)
                    }
                    #expect(throws: LogDamage.self, "another tenant") {
                        try others.check(mac, at: position, leaf: event.leaf)
                    }
                    #expect(throws: LogDamage.self, "another entry") {
                        try protection.check(mac, at: position, leaf: Self.otherLeaf)
                    }
                    #expect(throws: LogDamage.self, "null") {
                        try protection.check(nil, at: position, leaf: event.leaf)
                    }
                    #expect(throws: LogDamage.self, "another number") {
                        try protection.check(
                            try Self.mac(Fixture.macKey, of: event, in: log, number: 2),
                            at: position,
                            leaf: event.leaf)
                    }
                    #expect(throws: LogDamage.self, "a key that the log does not name") {
                        try protection.check(
                            try Self.mac(Fixture.nextMACKey, of: event, in: log), at: position,
                            leaf: event.leaf)
                    }
                }
            }
        }
    }

    /// Continues a log under another key.
    private static func rotate(
        _ database: ScratchDatabase, _ fixture: SequencerFixture, root: Digest? = nil
    ) async throws {
        let prefix = try await database.asRuntime.with { connection in
            try LogRoot.read(of: .default, keys: Fixture.keyring.macs, on: connection).prefix
        }
        var story = Story(fixture.sequencer, seed: 7)
        _ = try await story.submit(
            .rotateKey(
                RotateKey(
                    KeyRotated(
                        macKey: Fixture.nextMACKey.id.description,
                        former: Fixture.macKey.id.description,
                        after: KeyRotated.Prefix(root: root ?? prefix.root, size: prefix.size))))
        ).get()
    }

    @Test func `each key is valid in its own range, and a former one need not be kept`()
        async throws
    {
        try await ScratchDatabase.with { database in
            try await Fixture.with(database, isProtected: true) { fixture in
                _ = try await fixture.signIn(subject("apple", "ada"))
                try await Self.rotate(database, fixture)
                _ = try await fixture.signIn(subject("apple", "ada"))
                let log = try await fixture.log()
                let protection = try await Self.protection(database)
                #expect(protection.roots.map(\.size) == [4] && log.count == 6)
                for (event, mac) in zip(log, try await Self.macs(database)) {
                    let position = event.recorded.position
                    let isNew = position >= LogPosition(4)
                    #expect(try protection.check(mac, at: position, leaf: event.leaf))
                    #expect(throws: LogDamage.self, "a key outside of its range") {
                        try protection.check(
                            try Self.mac(
                                isNew ? Fixture.macKey : Fixture.nextMACKey, of: event, in: log),
                            at: position, leaf: event.leaf)
                    }
                }
                let later = try await Self.protection(
                    database, keys: MACKeys(current: Fixture.nextMACKey))
                let early = try await Self.protection(
                    database, keys: MACKeys(current: Fixture.macKey))
                for (event, mac) in zip(log, try await Self.macs(database)) {
                    let position = event.recorded.position
                    let isNew = position >= LogPosition(4)
                    #expect(try later.check(mac, at: position, leaf: event.leaf) == isNew)
                    guard isNew else {
                        #expect(try early.check(mac, at: position, leaf: event.leaf))
                        continue
                    }
                    let damage = #expect(throws: LogDamage.self) {
                        try early.check(mac, at: position, leaf: event.leaf)
                    }
                    #expect(damage?.lacksKey == true, "no fault is known")
                }
            }
        }
    }

    @Test func `a sealer that passed over a rotation accepts no event by the former key`()
        async throws
    {
        try await ScratchDatabase.with(owner: .plain) { database in
            try await Fixture.with(database, isProtected: true) { fixture in
                _ = try await fixture.signIn(subject("apple", "ada"))
                let store = PostgresSealerStore(
                    url: database.runtimeURL, applicationName: "test sealer",
                    macs: Fixture.keyring.macs)
                #expect(try await store.entries(of: .default, from: 0, limit: 9).count == 4)
                try await Self.rotate(database, fixture)
                _ = try await fixture.signIn(subject("apple", "ada"))
                let log = try await fixture.log()
                let former = try Self.mac(Fixture.macKey, of: log[5], in: log)
                try await database.asSuperuser.execute(
                    """
                    ALTER TABLE events DISABLE TRIGGER USER;
                    UPDATE events SET mac = decode('\(Hex.encode(former))', 'hex')
                    WHERE position = 5
                    """)
                await #expect(throws: SealingRefusal.self) {
                    _ = try await store.entries(of: .default, from: 5, limit: 1)
                }
                #expect(
                    try await store.entries(of: .default, from: 4, limit: 1).count == 1,
                    "the event of the rotation has the next key")
                await store.close()
            }
        }
    }

    @Test(arguments: [0, 4])
    func `after a marker that no holder of the key has written nothing is trusted`(
        mark: Int64
    ) async throws {
        try await ScratchDatabase.with(owner: .plain) { database in
            try await Fixture.with(database, isProtected: true) { fixture in
                _ = try await fixture.signIn(subject("apple", "ada"))
                try await Self.rotate(database, fixture)
                _ = try await fixture.signIn(subject("apple", "ada"))
                try await database.asSuperuser.execute(
                    """
                    ALTER TABLE events DISABLE TRIGGER USER;
                    UPDATE events SET mac = set_byte(mac, 19, get_byte(mac, 19) # 1)
                    WHERE position = \(mark)
                    """)
                let protection = try await Self.protection(database)
                for (event, mac) in zip(
                    try await fixture.log(), try await Self.macs(database))
                {
                    let position = event.recorded.position
                    if position.value < mark {
                        #expect(try protection.check(mac, at: position, leaf: event.leaf))
                    } else {
                        #expect(throws: LogDamage.self) {
                            try protection.check(mac, at: position, leaf: event.leaf)
                        }
                    }
                }
            }
        }
    }

    @Test func `a change of the key that states more events than precede it is forged`() throws {
        let key = Fixture.macKey
        let events = [
            Event.ledgerOpened(
                LedgerOpened(
                    mode: .production, encryptionKey: "x", macKey: key.id.description,
                    tokenKey: "x")),
            .keyRotated(
                KeyRotated(
                    macKey: key.id.description, former: "x",
                    after: KeyRotated.Prefix(root: Self.otherLeaf, size: 2))),
        ]
        let marks = events.enumerated().map { index, event in
            let position = LogPosition(Int64(index))
            let entry = EntryEncoding.encode(
                RecordedEvent(
                    tenant: .default, position: position, id: EventID(bits: 1),
                    recordedAt: Timestamp(microseconds: 1), actor: .system,
                    command: CommandID(bits: 1), request: nil, accounts: [],
                    disclosureDigests: [], event: event))
            let mac = key.mac(
                of: .entry(
                    tenant: .default, log: EventID(bits: 1), number: 1, position: position,
                    leaf: LogDigest.leaf(entry)))
            return (position: position.value, entry: entry, mac: [UInt8]?.some(mac.bytes))
        }
        let protection = LogProtection(
            marks: marks, of: .default, keys: MACKeys(current: key))
        for (index, mark) in marks.enumerated() {
            let isAuthentic = try? protection.check(
                mark.mac, at: LogPosition(mark.position), leaf: LogDigest.leaf(mark.entry))
            #expect(isAuthentic == (index == 0 ? true : nil))
        }
    }

    @Test(arguments: [true, false])
    func `verify compares the log with the root that a change of the key states`(
        isRight: Bool
    ) async throws {
        try await ScratchDatabase.with { database in
            try await Fixture.with(database, isProtected: true) { fixture in
                _ = try await fixture.signIn(subject("apple", "ada"))
                try await Self.rotate(database, fixture, root: isRight ? nil : Self.otherLeaf)
                _ = try await fixture.signIn(subject("apple", "ada"))
                try await database.fold()
                let verifier = Verifier(
                    url: database.runtimeURL, keyring: Fixture.keyring, rangeEvents: 2)
                let report = try await verifier.run()
                await verifier.close()
                #expect(report.holds == isRight && report.counts[.macs] == 6)
                guard !isRight else { return }
                #expect(report.findings.map(\.check) == [.macs])
                #expect(
                    report.findings.first?.text == """
                        the entries between 0 and 3 are not those of which the change of the MAC key at \
                        position 4 states the root
                        """)
            }
        }
    }
}
