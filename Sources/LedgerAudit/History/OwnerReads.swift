package import Ledger
package import LedgerEngine
import LedgerPostgres
import Postgres

/// Reads which accounts held an identity, from the log itself and in one snapshot.
package struct OwnerReads: OwnerReader {
    /// The maximum number of positions that one request scans.
    package static let positionsMax: Int64 = 200_000
    /// The number of events naming the identity after which one request scans no further positions.
    package static let eventsMax: Int64 = 20_000
    /// The time after which a request scans no further positions: its answer is incomplete.
    private static let timeMax: Duration = .seconds(10)
    /// How much earlier than the time in its id an identity may have been linked, given the clocks of
    /// two machines, in microseconds.
    private static let before: Int64 = 60_000_000

    private static let begin = Statement(
        "owner_reads_begin", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    private let session: Postgres.Session
    private let macs: MACKeys?
    private let positionsMax: Int64
    private let eventsMax: Int64
    private let onFault: @Sendable (String) -> Void

    /// Configures the reads; does not connect yet.
    ///
    /// - Parameters:
    ///   - url: The URL of a role that may read `events`.
    ///   - macs: Authenticate the events.
    ///   - positionsMax: The maximum number of positions that one request scans.
    ///   - eventsMax: The number of events naming the identity after which it scans no further positions.
    ///   - onFault: Called with one line, free of personal data, for each failed read.
    package init(
        url: String, macs: MACKeys?, positionsMax: Int64 = Self.positionsMax,
        eventsMax: Int64 = Self.eventsMax, onFault: @escaping @Sendable (String) -> Void
    ) {
        self.macs = macs
        self.positionsMax = positionsMax
        self.eventsMax = eventsMax
        self.onFault = onFault
        session = Session.forReads(url: url, named: "owners", seconds: 5)
    }

    /// Closes the connection; the next read opens a new one.
    package func close() async {
        await session.close()
    }

    /// Returns the accounts that held an identity; nil when none did.
    package func owners(
        of identity: IdentityID, in tenant: TenantID
    ) async throws(HistoryFault) -> IdentityHoldings? {
        do {
            return try await session.run { connection in
                try connection.readingServedTables(Self.begin) {
                    let snapshot = try HistorySnapshot.read(tenant, macs: macs, on: connection)
                    return try holdings(of: identity, in: snapshot, on: connection)
                }
            }
        } catch let damage as LogDamage {
            onFault("the holders of an identity are not consistent: \(damage)")
            throw .damaged(damage.description)
        } catch {
            onFault("reading the holders of an identity failed: \(error)")
            throw .unavailable
        }
    }

    private func holdings(
        of identity: IdentityID, in snapshot: HistorySnapshot, on connection: Connection
    ) throws -> IdentityHoldings? {
        let first =
            identity.isUUIDv7
            ? try TimeSearch.events.first(
                notBefore: identity.madeAt.microseconds - Self.before, in: snapshot.tenant,
                on: connection) : 0
        let size = snapshot.log.size
        let start = min(max(0, first), size)
        var search = LogSearch(
            for: identity, orAny: HoldingFold.unnamed, in: snapshot.tenant,
            at: start..<min(size, start + positionsMax))
        var collection = HoldingCollection(of: identity)
        let deadline = ContinuousClock.now + Self.timeMax
        // Erasures, most of them of other accounts, do not count: the number of positions limits them.
        while search.namedCount < eventsMax, ContinuousClock.now < deadline,
            let positions = try search.positions(on: connection)
        {
            for start in stride(from: 0, to: positions.count, by: LogReader.pageMax) {
                let page = positions[start...].prefix(LogReader.pageMax)
                for event in try snapshot.events(at: Array(page), on: connection) {
                    try Self.apply(event.recorded, to: &collection)
                }
            }
        }
        let holdings = collection.holdings
        guard !holdings.isEmpty else { return nil }
        return IdentityHoldings(
            identity: identity, holdings: holdings, end: LogPosition(search.next), logSize: size)
    }

    private static func apply(
        _ recorded: RecordedEvent, to collection: inout HoldingCollection
    ) throws(LogDamage) {
        do throws(FoldFault) {
            try collection.apply(recorded)
        } catch {
            throw LogDamage(position: recorded.position, fault: error.description)
        }
    }
}
