import Dispatch
import Ledger
import Postgres
import Synchronization

/// One piece of a verification that needs nothing from the others.
enum VerificationPiece: Sendable {
    case stretch(Range<Int64>)
    case table(TableScan)
    /// The codes of a table's rows.
    case codes(ProtectedTable)
}

/// What a verification is divided into: stretches of the log in their order, then what is beside it.
///
/// Reckoned and not listed, since a head may be said to be very far away.
struct VerificationPieces: Sendable {
    private let end: Int64
    private let step: Int64
    private let others: [VerificationPiece]
    private let stretchCount: Int

    /// Divides the events before a position into stretches of so many.
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

/// What a piece came to.
enum VerifiedPiece: Sendable {
    case stretch(LogStretch)
    case table(RowSums)
    /// Something is not as the log says.
    case unsound
}

/// Does pieces, each by itself.
struct PieceReader: Sendable {
    let tenant: TenantID
    let disclosures: DisclosureReader?
    let erased: ErasedAccounts
    let key: RowHashKey
    let seals: SealStanding
    /// Nil without keys.
    let codes: RowCodes?
    /// Which MAC key holds where; nil without keys.
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
            // A value that is none of its type; where it is, the exact search will tell.
            return .unsound
        }
    }
}

/// Pieces that several readers do at once and one consumer takes in their order.
///
/// Readers run ahead of the consumer by a few pieces and no further, which bounds the memory.
final class VerificationWork: Sendable {
    private struct State {
        var done: [Int: Result<VerifiedPiece, any Error>] = [:]
        var next = 0
        var isClosed = false
    }

    private let pieces: VerificationPieces
    private let state = Mutex(State())
    /// Counts the pieces that may be begun.
    private let room: DispatchSemaphore
    /// Counts the pieces that are done.
    private let done = DispatchSemaphore(value: 0)

    init(_ pieces: VerificationPieces, ahead: Int) {
        self.pieces = pieces
        room = DispatchSemaphore(value: 0)
        for _ in 0..<ahead { room.signal() }
    }

    /// Does pieces until none is left; a failure goes to the consumer in the piece's place.
    func run(_ body: (VerificationPiece) throws -> VerifiedPiece) {
        while let index = begin() {
            let result = Result { try body(pieces[index]) }
            state.withLock { $0.done[index] = result }
            done.signal()
        }
        // The next reader in line finds out, too, that nothing is left.
        room.signal()
    }

    /// Waits for a piece; each is taken once and in order.
    func take(_ index: Int) throws -> VerifiedPiece {
        while true {
            if let result = state.withLock({ $0.done.removeValue(forKey: index) }) {
                room.signal()
                return try result.get()
            }
            done.wait()
        }
    }

    /// Has readers begin no further piece.
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
