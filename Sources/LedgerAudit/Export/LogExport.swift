import Ledger
import LedgerEngine
import LedgerExport
import LedgerPostgres
import Postgres
import TransparencyLog

/// An export of the whole log that recomputes the tree and compares it with every checkpoint.
struct LogExport {
    private let tenant: TenantID
    private let basis: ExportBasis?
    private let disclosures: DisclosureReader?
    /// The MAC keys by range of positions; nil without keys.
    private let protection: LogProtection?
    private let take: @Sendable (ExportedPart) throws -> Void
    private var tree = CompactRange()
    private var verifiedSize: Int64 = 0
    /// The number of unsigned checkpoint rows, which are omitted.
    private(set) var unsignedCount = 0

    init(
        tenant: TenantID, basis: ExportBasis?, disclosures: DisclosureReader?,
        protection: LogProtection?,
        take: @escaping @Sendable (ExportedPart) throws -> Void
    ) {
        self.tenant = tenant
        self.basis = basis
        self.disclosures = disclosures
        self.protection = protection
        self.take = take
    }

    /// Exports the events before a position.
    mutating func run(through end: Int64, on connection: Connection) throws {
        var start: Int64 = 0
        while start < end {
            let range = start..<min(start + Int64(ExportedPart.eventsMax), end)
            let signed = try checkpoints(range, on: connection)
            let events = try read(range, on: connection)
            try check(events, signed)
            try take(ExportedPart(checkpoints: signed.map(\.note), events: events))
            start = range.upperBound
        }
        guard let basis, tree.root != basis.checkpoint.root else { return }
        throw rootMismatch(basis.checkpoint.size)
    }

    /// Returns the checkpoints that end within a range.
    private mutating func checkpoints(
        _ range: Range<Int64>, on connection: Connection
    ) throws -> [SignedCheckpoint] {
        guard let basis else { return [] }
        do {
            let page = try basis.checkpoints(of: tenant, on: connection).page(
                sizes: range.lowerBound + 1...range.upperBound, limit: .max,
                origin: basis.checkpoint.origin)
            unsignedCount += page.unsignedCount
            return page.signed
        } catch let damage as ProofDamage {
            throw ExportFailure.damaged(damage.what)
        }
    }

    private func read(
        _ range: Range<Int64>, on connection: Connection
    ) throws -> [ExportedEvent] {
        var rest: ArraySlice<DisclosureReader.Row> = []
        if disclosures != nil {
            rest = try DisclosureReader.rows(at: range, in: tenant, on: connection)[...]
        }
        var keys = DisclosureReader.KeyCache()
        var events: [ExportedEvent] = []
        events.reserveCapacity(range.count)
        try connection.copyRows(
            """
            COPY (SELECT position, entry, mac FROM events
            WHERE tenant_id = \(quoteLiteral(tenant.description))
                AND position >= \(range.lowerBound) AND position < \(range.upperBound)
            ORDER BY position) TO STDOUT (FORMAT binary)
            """
        ) { row in
            let position = range.lowerBound + Int64(events.count)
            guard try row.int8(0) == position else {
                throw ExportFailure.damaged("the event at position \(position) is missing")
            }
            events.append(
                try ExportedEvent(
                    row.bytes(1), at: position, in: tenant, &rest, disclosures, &keys, path: nil))
            do throws(LogDamage) {
                try protection?.check(
                    row.isNull(2) ? nil : row.bytes(2), at: LogPosition(position),
                    leaf: LogDigest.leaf(row.bytes(1)))
            } catch {
                throw ExportFailure.damaged("\(error)")
            }
        }
        guard events.count == range.count else {
            throw ExportFailure.damaged(
                "the event at position \(range.lowerBound + Int64(events.count)) is missing")
        }
        return events
    }

    private mutating func check(
        _ events: [ExportedEvent], _ signed: [SignedCheckpoint]
    ) throws(ExportFailure) {
        guard basis != nil else { return }
        var ahead = signed[...]
        for event in events {
            tree.append(.leaf(event.entry))
            while let next = ahead.first, next.size == tree.size {
                guard TreeHash(next.root) == tree.root else { throw rootMismatch(next.size) }
                verifiedSize = next.size
                ahead.removeFirst()
            }
        }
    }

    private func rootMismatch(_ size: Int64) -> ExportFailure {
        .damaged(
            "an entry between positions \(verifiedSize) and \(size - 1) is not the signed one")
    }
}

/// An export of one account's events with their proofs and the account's own disclosures.
struct AccountExport {
    private static let pageMax = LogReader.pageMax

    let account: AccountID
    let tenant: TenantID
    let basis: ExportBasis?
    let disclosures: DisclosureReader?
    let take: @Sendable (ExportedPart) throws -> Void

    /// Exports the events at these positions.
    func run(_ positions: ArraySlice<Int64>, on connection: Connection) throws {
        var rest = positions
        while !rest.isEmpty {
            let page = Array(rest.prefix(Self.pageMax))
            rest = rest.dropFirst(page.count)
            try take(ExportedPart(checkpoints: [], events: read(page, on: connection)))
        }
    }

    private func read(_ positions: [Int64], on connection: Connection) throws -> [ExportedEvent] {
        let results = try connection.pipeline([
            LogReader.rowsCall(at: positions, in: tenant),
            DisclosureReader.call(at: disclosures == nil ? [] : positions, in: tenant),
        ])
        guard results.count == 2, results[0].rowCount == positions.count else {
            throw ExportFailure.damaged("an event of the account is missing")
        }
        var rest = try DisclosureReader.rows(results[1])[...]
        var keys = DisclosureReader.KeyCache()
        let paths = try paths(positions, on: connection)
        var events: [ExportedEvent] = []
        for (row, position) in positions.enumerated() {
            let stored = try EventRow(results[0], row)
            let event = try ExportedEvent(
                stored.entry, at: position, in: tenant, &rest, disclosures, &keys,
                of: account, path: paths?[row])
            try prove(event)
            events.append(event)
        }
        return events
    }

    /// Returns the proofs of some positions, with all hashes read at once.
    private func paths(
        _ positions: [Int64], on connection: Connection
    ) throws -> [[TreeHash]]? {
        guard let basis else { return nil }
        let plans = try positions.map {
            try InclusionProof.nodes(position: $0, size: basis.checkpoint.size)
        }
        let nodes = try ExportStatements.nodes(
            at: Set(plans.flatMap(\.indexes)), of: tenant, on: connection)
        return try plans.map { plan in
            let hashes = plan.indexes.compactMap { nodes[$0] }
            guard hashes.count == plan.indexes.count else {
                throw ExportFailure.damaged(
                    "hashes below size \(basis.checkpoint.size) are missing")
            }
            return plan.path(hashes)
        }
    }

    private func prove(_ event: ExportedEvent) throws {
        guard let basis, let path = event.path else { return }
        let position = event.recorded.position.value
        let proof = InclusionProof(
            position: position, size: basis.checkpoint.size, path: path)
        do throws(ProofFault) {
            try proof.verify(leaf: .leaf(event.entry), root: basis.checkpoint.root)
        } catch {
            throw ExportFailure.damaged("the event at position \(position) is not the signed one")
        }
    }
}

extension ExportedEvent {
    /// Decodes an entry and removes its disclosures from the front of the remaining ones.
    ///
    /// Each is about the event's first account; an export of another account does not decrypt it.
    fileprivate init(
        _ entry: [UInt8], at position: Int64, in tenant: TenantID,
        _ rest: inout ArraySlice<DisclosureReader.Row>, _ reader: DisclosureReader?,
        _ keys: inout DisclosureReader.KeyCache, of account: AccountID? = nil, path: [TreeHash]?
    ) throws {
        let own = rest.prefix { $0.position.value == position }
        rest = rest.dropFirst(own.count)
        do throws(LogDamage) {
            let event = try StoredEvent(entry: entry, at: LogPosition(position), in: tenant)
            let isOwn = account == nil || event.recorded.accounts.first?.id == account
            self.init(
                recorded: event.recorded, entry: entry,
                disclosures: isOwn
                    ? try reader?.openEncoded(own, of: event.recorded, keys: &keys) ?? [] : [],
                path: path)
        } catch {
            throw ExportFailure.damaged("\(error)")
        }
    }
}
