import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres

/// A range of the log that was read and checked event by event, ready to be folded.
struct LogRange: Sendable {
    struct Event: Sendable {
        let recorded: RecordedEvent
        let leaf: Digest
        let clientIP: String?
        /// The keyed digests of the subject and e-mail that the event discloses, as the read model has them.
        let providerID: UInt64?
        let email: UInt64?
        /// The keyed digest of the external id that the event discloses.
        let externalID: UInt64?
        /// The same digests of links that the event returns, by their positions.
        var linked: [LogPosition: (providerID: UInt64?, email: UInt64?)] = [:]
    }

    var events: [Event] = []
    /// The seals over these events.
    let seals: SealRange
    /// The number of opened disclosures; 0 without keys.
    var disclosureCount: Int64 = 0
    /// The number of disclosures that were destroyed with their account.
    var erasedCount: Int64 = 0
    /// The number of events that a key authenticates.
    var macCount: Int64 = 0
}

/// Reads ranges of the log and makes every check that does not depend on earlier events.
///
/// So several ranges can be read concurrently.
struct LogRangeReader {
    let tenant: TenantID
    let disclosures: DisclosureReader?
    let erased: ErasedAccounts
    let key: RowHashKey
    let seals: SealState
    /// The positions at which each MAC key applies; nil without keys.
    let protection: LogProtection?

    /// Reads the events at these positions; returns nil when anything is wrong.
    func read(_ positions: Range<Int64>, on connection: Connection) throws -> LogRange? {
        var rest: ArraySlice<DisclosureReader.Row> = []
        if disclosures != nil {
            rest = try DisclosureReader.rows(at: positions, in: tenant, on: connection)[...]
        }
        var keys = DisclosureReader.KeyCache()
        var range = LogRange(
            seals: try SealRange(positions, of: tenant, seals, on: connection))
        range.events.reserveCapacity(positions.count)
        var isSound = true
        var expected = RowImage()
        var stored = RowImage()
        try connection.copyRows(
            """
            COPY (SELECT position, event_id, type, schema_version, recorded_at, account_id,
                account_seq, command_id, request_id, actor, entry, mac
            FROM events WHERE tenant_id = \(quoteLiteral(tenant.description))
                AND position >= \(positions.lowerBound) AND position < \(positions.upperBound)
            ORDER BY position) TO STDOUT (FORMAT binary)
            """
        ) { row in
            // An aborted COPY would cost the connection, so the rest is skipped.
            guard isSound else { return }
            let position = LogPosition(positions.lowerBound + Int64(range.events.count))
            let entry = row.bytes(10)
            guard let stored = Self.columns(row, image: &stored),
                let event = try? StoredEvent(entry: entry, at: position, in: tenant),
                stored == Self.columns(of: event.recorded, image: &expected),
                EntryEncoding.encode(event.recorded) == entry,
                let disclosed = open(event.recorded, from: &rest, keys: &keys)
            else {
                isSound = false
                return
            }
            let leaf = event.leaf
            if let protection {
                let isChecked = try? protection.check(
                    row.isNull(11) ? nil : row.bytes(11), at: position, leaf: leaf)
                guard let isChecked else {
                    isSound = false
                    return
                }
                range.macCount += isChecked ? 1 : 0
            }
            if disclosures != nil {
                let count = Int64(event.recorded.disclosureDigests.count)
                range.disclosureCount += count
                if erased[event.recorded] != nil { range.erasedCount += count }
            }
            var email = disclosed.email
            // A changed address was proved, and its event discloses no flag.
            if case .addressChanged = event.recorded.event {
                email = email.map { Email($0.address, isVerified: true) }
            }
            range.events.append(
                LogRange.Event(
                    recorded: event.recorded, leaf: leaf, clientIP: disclosed.clientIP,
                    providerID: disclosed.providerID.map { rowDigest(of: $0, key) },
                    email: email.map { rowDigest(of: ComparedEmail.text(of: $0), key) },
                    externalID: disclosed.externalID.map { rowDigest(of: $0, key) }))
        }
        guard isSound, rest.isEmpty, range.events.count == positions.count,
            try addLinked(to: &range, on: connection)
        else { return nil }
        return range
    }

    /// Adds the disclosures of returned links; returns false when they can't be read.
    private func addLinked(to range: inout LogRange, on connection: Connection) throws -> Bool {
        guard let disclosures else { return true }
        for index in range.events.indices {
            let recorded = range.events[index].recorded
            guard !recorded.linkPositions.isEmpty else { continue }
            let linked = try LinkedDisclosures.read(
                for: recorded, in: tenant, with: disclosures, on: connection)
            guard let values = try? linked.values(of: recorded) else { return false }
            range.events[index].linked = values.mapValues {
                (
                    providerID: $0.providerID.map { rowDigest(of: $0, key) },
                    email: $0.email.map { rowDigest(of: ComparedEmail.text(of: $0), key) }
                )
            }
        }
        return true
    }

    /// Opens an event's disclosures; returns nil unless each digest has its disclosure and nothing is
    /// missing.
    ///
    /// An erased account must have none.
    private func open(
        _ recorded: RecordedEvent, from rest: inout ArraySlice<DisclosureReader.Row>,
        keys: inout DisclosureReader.KeyCache
    ) -> DisclosedValues? {
        guard recorded.shortfall == nil else { return nil }
        guard let disclosures else { return DisclosedValues() }
        let own = rest.prefix { $0.position == recorded.position }
        rest = rest.dropFirst(own.count)
        let erasure = erased[recorded]
        if erasure?.isDestroyed == true, !own.isEmpty { return nil }
        guard let disclosed = try? disclosures.open(own, of: recorded, keys: &keys),
            disclosed.count == (erasure == nil ? recorded.disclosureDigests.count : 0),
            erasure != nil || recorded.missingDisclosures(among: disclosed).isEmpty
        else { return nil }
        return disclosed
    }

    private static func columns(_ row: CopyRow, image: inout RowImage) -> RowImage? {
        guard row.columnCount == 12 else { return nil }
        image.clear()
        image.add(row, 0..<10)
        return image
    }

    /// Returns the columns of `events` as they must be derived from an entry.
    private static func columns(
        of recorded: RecordedEvent, image: inout RowImage
    ) -> RowImage {
        let first = recorded.accounts.first
        image.clear()
        image.int8(recorded.position.value)
        image.uuid(recorded.id.bits)
        image.text(recorded.event.name.rawValue)
        image.int2(Int16(recorded.event.version))
        image.timestamp(recorded.recordedAt.microseconds)
        image.uuid(first?.id.bits)
        image.int8(first?.sequence)
        image.uuid(recorded.command.bits)
        image.uuid(recorded.request?.bits)
        image.text(recorded.actor.columnText)
        return image
    }
}
