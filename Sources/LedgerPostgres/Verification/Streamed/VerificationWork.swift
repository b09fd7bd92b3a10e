import Dispatch
import Ledger
import Postgres
import Synchronization

/// One independent chunk of a verification.
enum VerificationPiece: Sendable {
    case stretch(Range<Int64>)
    case table(TableScan)
    /// The MACs of a table's rows.
    case codes(ProtectedTable)
}

/// The chunks of a verification: ranges of the log in order, then the tables beside it.
///
/// Computed and not listed, because a damaged head may claim an enormous log.
struct VerificationPieces: Sendable {
    private let end: Int64
    private let step: Int64
    private let others: [VerificationPiece]
    private let stretchCount: Int

    /// Divides the events before a position into ranges of `step` events.
    init(through end: Int64, step: Int64, _ others: [VerificationPiece]) {
        self.end = max(0, end)
        self.step = max(1, step)
        self.others = others
        stretchCount = Int(self.end / self.step) + (self.end % self.step == 0 ? 0 : 1)
    }

    var count: Int { stretchCount + others.count }

    subscript(index: Int) -> VerificationPiece {
        guard index < stretchCount else { return others[index - stretchCount] }
        let start = Int64(index) * step
        return .stretch(start..<(end - start > step ? start + step : end))
    }
}

/// The result of a chunk.
enum VerifiedPiece: Sendable {
    case stretch(LogStretch)
    case table(RowSums)
    /// The chunk contradicts the log.
    case unsound
}

/// Processes single chunks.
struct PieceReader: Sendable {
    let tenant: TenantID
    let disclosures: DisclosureReader?
    let erased: ErasedAccounts
    let key: RowHashKey
    let seals: SealStanding
    /// The codes to check; nil without keys.
    let codes: RowCodes?
    /// The positions at which each MAC key applies; nil without keys.
    let marks: LogMarks?

    func read(_ piece: VerificationPiece, on connection: Connection) throws -> VerifiedPiece {
        do {
            switch piece {
            case .stretch(let positions):
                let reader = StretchReader(
                    tenant: tenant, disclosures: disclosures, erased: erased, key: key,
                    seals: seals, marks: marks)
                return try reader.read(positions, on: connection).map { .stretch($0) } ?? .unsound
            case .table(let table):
                var sums = RowSums()
                let summer = RowSummer(key: key, isPersonal: disclosures != nil)
                let isSound = try table.run(of: tenant, summer: summer, &sums, on: connection)
                return isSound ? .table(sums) : .unsound
            case .codes(let table):
                let isSound = try codes?.hold(in: table, of: tenant, on: connection) ?? true
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
        var done: [Int: Result<VerifiedPiece, any Error>] = [:]
        var next = 0
        var isClosed = false
    }

    private let pieces: VerificationPieces
    private let state = Mutex(State())
    /// Counts the chunks that may be started.
    private let room: DispatchSemaphore
    /// Counts the chunks that are done.
    private let done = DispatchSemaphore(value: 0)

    init(_ pieces: VerificationPieces, ahead: Int) {
        self.pieces = pieces
        room = DispatchSemaphore(value: 0)
        for _ in 0..<ahead { room.signal() }
    }

    /// Processes chunks until none is left; a failure is passed to the consumer in the chunk's place.
    func run(_ body: (VerificationPiece) throws -> VerifiedPiece) {
        while let index = begin() {
            let result = Result { try body(pieces[index]) }
            state.withLock { $0.done[index] = result }
            done.signal()
        }
        // Lets the next waiting reader also find that no chunk is left.
        room.signal()
    }

    /// Waits for a chunk; each is returned once and in order.
    func take(_ index: Int) throws -> VerifiedPiece {
        while true {
            if let result = state.withLock({ $0.done.removeValue(forKey: index) }) {
                room.signal()
                return try result.get()
            }
            done.wait()
        }
    }

    /// Stops readers from starting another chunk.
    func close() {
        state.withLock { $0.isClosed = true }
        room.signal()
    }

    private func begin() -> Int? {
        room.wait()
        return state.withLock { state in
            guard !state.isClosed, state.next < pieces.count else { return nil }
            state.next += 1
            return state.next - 1
        }
    }
}
