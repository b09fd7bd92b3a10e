package import Ledger

/// The keys and origin numbers of a tenant's log by position, as recorded by its own events.
///
/// A log is protected from its first event on if `LedgerOpened` names a MAC key, and otherwise from
/// the size in the first `KeyRotated` of kind `mac` on. Each later one changes the key at its own
/// position.
package struct LogProtection: Sendable {
    private struct Range {
        let from: LogPosition
        /// The position of the event that records it; the first one may cover earlier events.
        let stated: LogPosition
        let key: MACKey.ID
    }

    private let tenant: TenantID
    private let keys: MACKeys
    private var log: EventID?
    private var ranges: [Range] = []
    private var numbers: [(from: LogPosition, number: Int64)] = []
    /// The first of these events whose own MAC is wrong: from there on the key is unknown.
    private var firstForged: LogPosition?
    /// The Merkle roots that the log records of its own prefixes, by size.
    package private(set) var roots: [(size: Int64, root: Digest, stated: LogPosition)] = []

    /// Reads the events that record keys, in order, each with its stored MAC.
    ///
    /// An event with a wrong MAC only shows that the key of later events is unknown.
    package init(
        marks: [(position: Int64, entry: [UInt8], mac: [UInt8]?)], of tenant: TenantID,
        keys: MACKeys
    ) {
        self.tenant = tenant
        self.keys = keys
        for mark in marks {
            guard let recorded = try? EntryEncoding.decode(mark.entry), recorded.tenant == tenant,
                recorded.position.value == mark.position
            else { continue }
            take(recorded, leaf: LogDigest.leaf(mark.entry), stored: mark.mac)
        }
    }

    /// The position from which every event must have a MAC; nil while the log is not protected.
    package var protectedFrom: LogPosition? { ranges.first?.from }

    /// Checks the MAC of an event.
    ///
    /// Nothing is checked before ``protectedFrom``, nor in a range that has ended and whose key is
    /// no longer available: the root in the next mark covers those events up to its size, and signed
    /// checkpoints those after it.
    /// - Returns: Whether a key authenticates it.
    /// - Throws: `LogDamage` for an event that no holder of the key has appended at this position,
    ///   and for every event of a log that must be protected and does not say so.
    @discardableResult
    package func check(
        _ stored: [UInt8]?, at position: LogPosition, leaf: Digest
    ) throws(LogDamage) -> Bool {
        if ranges.isEmpty, firstForged == nil, !keys.allowsUnprotected, !keys.isEmpty {
            throw LogDamage(position: position, fault: "the log does not say that it is protected")
        }
        return try checkMAC(stored, at: position, leaf: leaf)
    }

    private func checkMAC(
        _ stored: [UInt8]?, at position: LogPosition, leaf: Digest
    ) throws(LogDamage) -> Bool {
        if let firstForged, position > firstForged {
            throw LogDamage(
                position: position,
                fault:
                    "no server appended the event at position \(firstForged), which says what key holds"
            )
        }
        if position == firstForged { throw Self.forgery(at: position) }
        guard let index = ranges.lastIndex(where: { $0.from <= position }) else { return false }
        let expected = ranges[index].key
        guard let key = keys.key(expected) else {
            if index < ranges.count - 1 { return false }
            throw LogDamage(
                position: position, fault: "the MAC key \(expected) is not in the key directory",
                lacksKey: true)
        }
        guard let stored, let mac = MAC(stored), let log, mac.key == expected,
            key.mac(
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
            guard let prefix = fact.prefix else { return }
            guard prefix.size <= position.value, let id = MACKey.ID(fact.key) else {
                firstForged = firstForged ?? position
                return
            }
            let from = ranges.isEmpty ? LogPosition(prefix.size) : position
            ranges.append(Range(from: from, stated: position, key: id))
            roots.append((size: prefix.size, root: prefix.root, stated: position))
        case .ledgerRestored(let fact):
            numbers.append((from: position, number: fact.origin))
        default:
            return
        }
        guard firstForged == nil else { return self = before }
        do throws(LogDamage) {
            _ = try checkMAC(stored, at: position, leaf: leaf)
        } catch {
            // A statement under a key destroyed since is covered by the root in the next one;
            // without the key of the last range it is not used.
            guard !error.lacksKey else { return }
            self = before
            firstForged = position
        }
    }

    private func number(at position: LogPosition) -> Int64 {
        numbers.last { $0.from <= position }?.number ?? 1
    }
}

extension StoredEvent {
    /// Decodes an entry and checks its MAC, if marks show which key applies.
    ///
    /// - Throws: Also `LogDamage` if no server has appended it at this position.
    package init(
        entry: [UInt8], mac: [UInt8]?, at position: LogPosition, in tenant: TenantID,
        _ protection: LogProtection?
    ) throws(LogDamage) {
        try self.init(entry: entry, at: position, in: tenant)
        if let protection { try protection.check(mac, at: position, leaf: leaf) }
    }
}
