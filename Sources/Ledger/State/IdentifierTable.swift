/// A row that an identifier names.
protocol IdentifiedRow {
    associatedtype Kind
    var id: EntityID<Kind> { get }
}

/// Rows that stay where they are, found by their identifiers: open addressing over 32-bit places.
struct IdentifierTable<Row: IdentifiedRow> {
    typealias Identifier = EntityID<Row.Kind>
    /// No row has this place.
    static var none: UInt32 { .max }

    private(set) var count = 0
    private var rows: ContiguousArray<Row> = []
    /// Places of removed rows, which the next rows take.
    private var vacant: ContiguousArray<UInt32> = []
    /// A power of two of slots, at most three quarters full, each with a place or ``none``.
    private var slots = ContiguousArray<UInt32>(repeating: .max, count: 64)

    /// The row at a place.
    subscript(place: UInt32) -> Row {
        get { rows[Int(place)] }
        set { rows[Int(place)] = newValue }
        _modify { yield &rows[Int(place)] }
    }

    /// The rows by place; only while none has been removed.
    var all: ContiguousArray<Row> { rows }

    /// The place of an identifier's row.
    func place(of id: Identifier) -> UInt32? {
        let place = slots[slot(of: id)]
        return place == Self.none ? nil : place
    }

    /// Adds a row whose identifier is not there yet, and tells its place.
    @discardableResult
    mutating func insert(_ row: Row) -> UInt32 {
        if (count + 1) * 4 > slots.count * 3 { grow() }
        let place: UInt32
        if let free = vacant.popLast() {
            place = free
            rows[Int(place)] = row
        } else {
            precondition(rows.count < Int(Self.none), "a table holds fewer than 2^32 rows")
            place = UInt32(rows.count)
            rows.append(row)
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
        // Rows that a search would now miss move back into the hole.
        let mask = slots.count - 1
        var next = (hole + 1) & mask
        while slots[next] != Self.none {
            let home = rows[Int(slots[next])].id.hashValue & mask
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
        while slots[slot] != Self.none, rows[Int(slots[slot])].id != id {
            slot = (slot + 1) & mask
        }
        return slot
    }

    private mutating func grow() {
        let places = slots.filter { $0 != Self.none }
        slots = ContiguousArray(repeating: Self.none, count: slots.count * 2)
        for place in places {
            slots[slot(of: rows[Int(place)].id)] = place
        }
    }
}
