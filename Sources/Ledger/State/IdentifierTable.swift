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
    /// In chunks of ``chunkRows``, so that growing neither copies rows nor wastes capacity.
    private var chunks: ContiguousArray<ContiguousArray<Row>> = []
    private var rowCount = 0
    /// Indexes of removed rows, which new rows reuse.
    private var vacant: ContiguousArray<UInt32> = []
    /// A power of two of slots, at most three quarters full, each with an index or ``none``.
    private var slots = ContiguousArray<UInt32>(repeating: .max, count: 64)

    /// The row at an index.
    subscript(index: UInt32) -> Row {
        get { chunks[Int(index) / Self.chunkRows][Int(index) % Self.chunkRows] }
        _modify { yield &chunks[Int(index) / Self.chunkRows][Int(index) % Self.chunkRows] }
    }

    private static var chunkRows: Int { 4096 }

    /// The rows by index; only while none has been removed.
    var all: some Sequence<Row> { chunks.joined() }

    /// Returns the index of an identifier's row.
    func index(of id: Identifier) -> UInt32? {
        let index = slots[slot(of: id)]
        return index == Self.none ? nil : index
    }

    /// Adds a row with a new identifier, and returns its index.
    @discardableResult
    mutating func insert(_ row: Row) -> UInt32 {
        if (count + 1) * 4 > slots.count * 3 { grow() }
        let index: UInt32
        if let free = vacant.popLast() {
            index = free
            self[index] = row
        } else {
            precondition(rowCount < Int(Self.none), "a table holds fewer than 2^32 rows")
            index = UInt32(rowCount)
            if rowCount % Self.chunkRows == 0 {
                var chunk: ContiguousArray<Row> = []
                chunk.reserveCapacity(Self.chunkRows)
                chunks.append(chunk)
            }
            chunks[chunks.count - 1].append(row)
            rowCount += 1
        }
        slots[slot(of: row.id)] = index
        count += 1
        return index
    }

    /// Removes the row of an identifier.
    mutating func remove(_ id: Identifier) {
        var gap = slot(of: id)
        guard slots[gap] != Self.none else { return }
        vacant.append(slots[gap])
        count -= 1
        // Rows that a lookup would now miss move back into the gap.
        let mask = slots.count - 1
        var next = (gap + 1) & mask
        while slots[next] != Self.none {
            let home = self[slots[next]].id.hashValue & mask
            if (next &- home) & mask >= (next &- gap) & mask {
                slots[gap] = slots[next]
                gap = next
            }
            next = (next + 1) & mask
        }
        slots[gap] = Self.none
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
        let indexes = slots.filter { $0 != Self.none }
        slots = ContiguousArray(repeating: Self.none, count: slots.count * 2)
        for index in indexes {
            slots[slot(of: self[index].id)] = index
        }
    }
}
