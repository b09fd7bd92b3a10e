/// A row with an identifier.
protocol IdentifiedRow {
    associatedtype Kind
    var id: EntityID<Kind> { get }
}

/// Rows with stable indexes, found by their identifiers: open addressing over 32-bit indexes.
struct IdentifierTable<Row: IdentifiedRow> {
    typealias Identifier = EntityID<Row.Kind>
    /// The index of no row.
    static var none: UInt32 { .max }

    private(set) var count = 0
    /// In chunks of ``pieceRows``, so that growing neither copies rows nor wastes capacity.
    private var pieces: ContiguousArray<ContiguousArray<Row>> = []
    private var rowCount = 0
    /// Indexes of removed rows, which new rows reuse.
    private var vacant: ContiguousArray<UInt32> = []
    /// A power of two of slots, at most three quarters full, each with an index or ``none``.
    private var slots = ContiguousArray<UInt32>(repeating: .max, count: 64)

    /// The row at an index.
    subscript(place: UInt32) -> Row {
        get { pieces[Int(place) / Self.pieceRows][Int(place) % Self.pieceRows] }
        _modify { yield &pieces[Int(place) / Self.pieceRows][Int(place) % Self.pieceRows] }
    }

    private static var pieceRows: Int { 4096 }

    /// The rows by index; only while none has been removed.
    var all: some Sequence<Row> { pieces.joined() }

    /// Returns the index of an identifier's row.
    func place(of id: Identifier) -> UInt32? {
        let place = slots[slot(of: id)]
        return place == Self.none ? nil : place
    }

    /// Adds a row with a new identifier, and returns its index.
    @discardableResult
    mutating func insert(_ row: Row) -> UInt32 {
        if (count + 1) * 4 > slots.count * 3 { grow() }
        let place: UInt32
        if let free = vacant.popLast() {
            place = free
            self[place] = row
        } else {
            precondition(rowCount < Int(Self.none), "a table holds fewer than 2^32 rows")
            place = UInt32(rowCount)
            if rowCount % Self.pieceRows == 0 {
                var piece: ContiguousArray<Row> = []
                piece.reserveCapacity(Self.pieceRows)
                pieces.append(piece)
            }
            pieces[pieces.count - 1].append(row)
            rowCount += 1
        }
        slots[slot(of: row.id)] = place
        count += 1
        return place
    }

    /// Removes the row of an identifier.
    mutating func remove(_ id: Identifier) {
        var hole = slot(of: id)
        guard slots[hole] != Self.none else { return }
        vacant.append(slots[hole])
        count -= 1
        // Rows that a lookup would now miss move back into the gap.
        let mask = slots.count - 1
        var next = (hole + 1) & mask
        while slots[next] != Self.none {
            let home = self[slots[next]].id.hashValue & mask
            if (next &- home) & mask >= (next &- hole) & mask {
                slots[hole] = slots[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        slots[hole] = Self.none
    }

    /// The slot of an identifier, or the empty one where it would be.
    private func slot(of id: Identifier) -> Int {
        let mask = slots.count - 1
        var slot = id.hashValue & mask
        while slots[slot] != Self.none, self[slots[slot]].id != id {
            slot = (slot + 1) & mask
        }
        return slot
    }

    private mutating func grow() {
        let places = slots.filter { $0 != Self.none }
        slots = ContiguousArray(repeating: Self.none, count: slots.count * 2)
        for place in places {
            slots[slot(of: self[place].id)] = place
        }
    }
}
