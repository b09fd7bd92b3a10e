import Ledger
import Postgres

/// Which key and which number hold at which positions of a tenant's log, as its own events say.
///
/// A log is protected from its first event on when `LedgerOpened` names a MAC key, and otherwise from the
/// size on that the first `KeyRotated` of kind `mac` names. Each later one changes the key at its own position.
struct LogMarks: Sendable {
    private struct Range {
        let from: LogPosition
        /// Where the event stands that says so; the first one may say it of events before it.
        let stated: LogPosition
        let key: MACKey.ID
    }

    private let tenant: TenantID
    private let keys: MACKeys
    private var log: EventID?
    private var ranges: [Range] = []
    private var numbers: [(from: LogPosition, number: Int64)] = []
    /// The first of these events whose own code is wrong: from there on nobody knows which key holds.
    private var doubted: LogPosition?
    /// The Merkle roots that the log states of its own beginnings, by their sizes.
    private(set) var roots: [(size: Int64, root: Digest, stated: LogPosition)] = []

    private static let statement = Statement(
        "log_marks",
        """
        SELECT position, entry, mac FROM events
        WHERE tenant_id = $1::text AND position = 0
        UNION ALL
        SELECT position, entry, mac FROM events
        WHERE tenant_id = $1::text AND type IN ('KeyRotated', 'LedgerRestored') AND position > 0
        ORDER BY position
        """)

    /// Asks for the events that say it.
    static func call(of tenant: TenantID) -> Call {
        Call(statement, [.text(tenant.description)])
    }

    /// Asks as ``call(of:)``, unless there is no key that could be checked with.
    ///
    /// To be asked behind what is to be checked: then nothing of that is newer than the marks.
    static func calls(of tenant: TenantID, keys: MACKeys?) -> [Call] {
        keys.map { $0.isEmpty ? [] : [call(of: tenant)] } ?? []
    }

    /// Takes in what ``calls(of:keys:)`` found, the first of these results; nil when nothing was asked.
    static func found(
        in results: ArraySlice<QueryResult>, of tenant: TenantID, keys: MACKeys?
    ) throws(PostgresError) -> LogMarks? {
        guard let keys, let result = results.first else { return nil }
        return try LogMarks(result, of: tenant, keys: keys)
    }

    /// Takes in what ``call(of:)`` found.
    ///
    /// An event whose code is wrong says nothing here but that what follows is in doubt.
    init(_ result: QueryResult, of tenant: TenantID, keys: MACKeys) throws(PostgresError) {
        self.tenant = tenant
        self.keys = keys
        for row in 0..<result.rowCount {
            let entry = try result.bytes(row, 1)
            guard let recorded = try? EntryEncoding.decode(entry), recorded.tenant == tenant,
                recorded.position.value == (try result.int8(row, 0))
            else { continue }
            take(recorded, leaf: leafHash(entry), stored: try result.optionalBytes(row, 2))
        }
    }

    /// Reads the marks of a log.
    static func read(
        of tenant: TenantID, keys: MACKeys, on connection: Connection
    ) throws(PostgresError) -> LogMarks {
        let results = try connection.pipeline([call(of: tenant)])
        guard let result = results.first else { throw .unexpectedResult("no marks") }
        return try LogMarks(result, of: tenant, keys: keys)
    }

    /// Reads the marks of a log; nil where there is no key that could be checked with.
    static func read(
        of tenant: TenantID, checkingWith keys: MACKeys?, on connection: Connection
    ) throws(PostgresError) -> LogMarks? {
        guard let keys, !keys.isEmpty else { return nil }
        return try read(of: tenant, keys: keys, on: connection)
    }

    /// From which position on every event must have a code; nil while the log is not protected.
    var protectedFrom: LogPosition? { ranges.first?.from }

    /// Checks the code of an event.
    ///
    /// Nothing is checked before ``protectedFrom``, and nothing where the key of a range that has ended is
    /// not at hand any more: the root that the next mark states holds those events.
    /// - Returns: whether a key authenticates it.
    /// - Throws: `LogDamage` for an event that no holder of the key has appended at this place.
    @discardableResult
    func check(
        _ stored: [UInt8]?, at position: LogPosition, leaf: Digest
    ) throws(LogDamage) -> Bool {
        if let doubted, position > doubted {
            throw LogDamage(
                position: position,
                fault:
                    "no server appended the event at position \(doubted), which says what key holds"
            )
        }
        if position == doubted { throw Self.forgery(at: position) }
        guard let index = ranges.lastIndex(where: { $0.from <= position }) else { return false }
        let expected = ranges[index].key
        guard let key = keys.key(expected) else {
            if index < ranges.count - 1 { return false }
            throw LogDamage(
                position: position, fault: "the MAC key \(expected) is not in the key directory",
                lacksKey: true)
        }
        guard let stored, let mac = MAC(stored), let log, mac.key == expected,
            key.code(
                of: .entry(
                    tenant: tenant, log: log, number: number(at: position), position: position,
                    leaf: leaf)
            ).matches(mac)
        else { throw Self.forgery(at: position) }
        return true
    }

    private static func forgery(at position: LogPosition) -> LogDamage {
        LogDamage(
            position: position, fault: "the event was not appended by a server: its MAC is wrong")
    }

    private mutating func take(_ recorded: RecordedEvent, leaf: Digest, stored: [UInt8]?) {
        let before = self
        let position = recorded.position
        switch recorded.event {
        case .ledgerOpened(let fact):
            log = recorded.id
            numbers = [(from: position, number: 1)]
            guard let id = fact.macKey.flatMap({ MACKey.ID($0) }) else { return }
            ranges.append(Range(from: position, stated: position, key: id))
        case .keyRotated(let fact):
            guard let prefix = fact.prefix, prefix.size <= position.value,
                let id = MACKey.ID(fact.key)
            else { return }
            let from = ranges.isEmpty ? LogPosition(prefix.size) : position
            ranges.append(Range(from: from, stated: position, key: id))
            roots.append((size: prefix.size, root: prefix.root, stated: position))
        case .ledgerRestored(let fact):
            numbers.append((from: position, number: fact.origin))
        default:
            return
        }
        guard doubted == nil else { return self = before }
        do throws(LogDamage) {
            try check(stored, at: position, leaf: leaf)
        } catch {
            // What a key said that is destroyed since is held by the root that the next one states, and
            // without the key of the last range nothing of it is taken.
            guard !error.lacksKey else { return }
            self = before
            doubted = position
        }
    }

    private func number(at position: LogPosition) -> Int64 {
        numbers.last { $0.from <= position }?.number ?? 1
    }
}
