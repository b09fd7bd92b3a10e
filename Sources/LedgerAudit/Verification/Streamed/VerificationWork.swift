import Dispatch
import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres
import Synchronization

/// One independent chunk of a verification.
enum VerificationChunk: Sendable {
    case range(Range<Int64>)
    case table(TableScan)
    /// The MACs of a table's rows.
    case macs(ProtectedTable)
}

/// The chunks of a verification: ranges of the log in order, then the tables beside it.
///
/// Computed and not listed, because a damaged head may claim an enormous log.
struct VerificationChunks: Sendable {
    private let end: Int64
    private let step: Int64
    private let others: [VerificationChunk]
    private let rangeCount: Int

    /// Divides the events before a position into ranges of `step` events.
    init(through end: Int64, step: Int64, _ others: [VerificationChunk]) {
        self.end = max(0, end)
        self.step = max(1, step)
        self.others = others
        rangeCount = Int(self.end / self.step) + (self.end % self.step == 0 ? 0 : 1)
    }

    var count: Int { rangeCount + others.count }

    subscript(index: Int) -> VerificationChunk {
        guard index < rangeCount else { return others[index - rangeCount] }
        let start = Int64(index) * step
        return .range(start..<(end - start > step ? start + step : end))
    }
}

/// The result of a chunk.
enum VerifiedChunk: Sendable {
    case range(LogRange)
    case table(RowSums)
    /// The chunk contradicts the log.
    case unsound
}

/// Processes single chunks.
struct ChunkReader: Sendable {
    let tenant: TenantID
    let disclosures: DisclosureReader?
    let erased: ErasedAccounts
    let key: RowHashKey
    let seals: SealState
    /// The MACs to check; nil without keys.
    let macs: RowMACs?
    /// The positions at which each MAC key applies; nil without keys.
    let protection: LogProtection?

    func read(_ chunk: VerificationChunk, on connection: Connection) throws -> VerifiedChunk {
        do {
            switch chunk {
            case .range(let positions):
                let reader = LogRangeReader(
                    tenant: tenant, disclosures: disclosures, erased: erased, key: key,
                    seals: seals, protection: protection)
                return try reader.read(positions, on: connection).map { .range($0) } ?? .unsound
            case .table(let table):
                var sums = RowSums()
                let summer = RowSummer(key: key, isPersonal: disclosures != nil)
                let isSound = try table.run(of: tenant, summer: summer, &sums, on: connection)
                return isSound ? .table(sums) : .unsound
            case .macs(let table):
                let isSound = try macs?.hold(in: table, of: tenant, on: connection) ?? true
                return isSound ? .table(RowSums()) : .unsound
            }
        } catch PostgresError.unexpectedResult {
            // A value that its type does not allow; the exact search locates it.
            return .unsound
        }
    }
}

/// Chunks that several readers process concurrently and one consumer receives in order.
///
/// Readers run ahead of the consumer by a few chunks at most, which bounds the memory.
final class VerificationWork: Sendable {
    private struct State {
        var done: [Int: Result<VerifiedChunk, any Error>] = [:]
        var next = 0
        var isClosed = false
    }

    private let chunks: VerificationChunks
    private let state = Mutex(State())
    /// Counts the chunks that may be started.
    private let permits: DispatchSemaphore
    /// Counts the chunks that are done.
    private let done = DispatchSemaphore(value: 0)

    init(_ chunks: VerificationChunks, ahead: Int) {
        self.chunks = chunks
        permits = DispatchSemaphore(value: 0)
        for _ in 0..<ahead { permits.signal() }
    }

    /// Processes chunks until none is left; a failure is passed to the consumer in the chunk's place.
    func run(_ body: (VerificationChunk) throws -> VerifiedChunk) {
        while let index = begin() {
            let result = Result { try body(chunks[index]) }
            state.withLock { $0.done[index] = result }
            done.signal()
        }
        // Lets the next waiting reader also find that no chunk is left.
        permits.signal()
    }

    /// Waits for a chunk; each is returned once and in order.
    func take(_ index: Int) throws -> VerifiedChunk {
        while true {
            if let result = state.withLock({ $0.done.removeValue(forKey: index) }) {
                permits.signal()
                return try result.get()
            }
            done.wait()
        }
    }

    /// Stops readers from starting another chunk.
    func close() {
        state.withLock { $0.isClosed = true }
        permits.signal()
    }

    private func begin() -> Int? {
        permits.wait()
        return state.withLock { state in
            guard !state.isClosed, state.next < chunks.count else { return nil }
            state.next += 1
            return state.next - 1
        }
    }
}
