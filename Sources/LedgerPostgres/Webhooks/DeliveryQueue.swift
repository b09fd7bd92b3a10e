import Ledger

extension Timestamp {
    /// When an event is due that waits for nothing, whatever the clock of the process that sends it.
    static let atOnce = Timestamp(microseconds: 0)
}

/// The events that are on their way to one endpoint, in the order of the log; pure.
///
/// An event is due when no earlier one of any account that it touches is on its way: so the events of an
/// account are sent one after the other, and those of others beside them. A merge touches both accounts,
/// and holds them together at that place.
struct DeliveryQueue {
    /// An event that is on its way.
    struct Item: Hashable, Sendable {
        let position: LogPosition
        let event: EventID
        let type: String
        let accounts: [AccountID]
        var attempts = 0
        var next: Timestamp
    }

    /// The longest pause that there is: what is due later than that was planned by another clock.
    private let pauseMax: Duration
    private var items: [Item] = []
    private(set) var started: Set<LogPosition> = []
    /// Until when the receiver wants nothing.
    private var heldUntil: Timestamp?

    /// Makes an empty queue.
    init(pauseMax: Duration) {
        self.pauseMax = pauseMax
    }

    var count: Int { items.count }

    /// Adds events that come after all that are there.
    mutating func add(_ more: [Item]) {
        items += more
    }

    /// Starts at most so many events that are due.
    mutating func start(_ countMax: Int, at now: Timestamp) -> [Item] {
        guard countMax > 0, heldUntil.map({ waits(until: $0, at: now) }) != true else { return [] }
        var busy: Set<AccountID> = []
        var due: [Item] = []
        for item in items {
            guard due.count < countMax else { break }
            let isFirst = busy.isDisjoint(with: item.accounts)
            busy.formUnion(item.accounts)
            guard isFirst, !started.contains(item.position) else { continue }
            if !waits(until: item.next, at: now) { due.append(item) }
        }
        started.formUnion(due.map(\.position))
        return due
    }

    /// When something may begin, of at most so many at a time; nil when only an end of what was started
    /// brings that.
    func next(_ countMax: Int, at now: Timestamp) -> Timestamp? {
        guard started.count < countMax else { return nil }
        var busy: Set<AccountID> = []
        var next: Timestamp?
        for item in items {
            let isFirst = busy.isDisjoint(with: item.accounts)
            busy.formUnion(item.accounts)
            guard isFirst, !started.contains(item.position) else { continue }
            let due =
                [item.next, heldUntil ?? item.next]
                .map { waits(until: $0, at: now) ? $0 : now }.max() ?? now
            next = min(next ?? due, due)
        }
        return next
    }

    /// Takes out what was delivered or given up.
    mutating func remove(_ position: LogPosition) {
        started.remove(position)
        if let index = index(of: position) { items.remove(at: index) }
    }

    /// Puts an event back that was not taken.
    mutating func putBack(_ item: Item) {
        started.remove(item.position)
        if let index = index(of: item.position) { items[index] = item }
    }

    /// Sends nothing before a moment.
    mutating func hold(until moment: Timestamp) {
        heldUntil = max(heldUntil ?? moment, moment)
    }

    private func waits(until moment: Timestamp, at now: Timestamp) -> Bool {
        moment > now && .microseconds(moment.microseconds - now.microseconds) <= pauseMax
    }

    /// Where an event is: they lie in the order of the log.
    private func index(of position: LogPosition) -> Int? {
        var (low, high) = (0, items.count)
        while low < high {
            let middle = (low + high) / 2
            if items[middle].position < position { low = middle + 1 } else { high = middle }
        }
        return low < items.count && items[low].position == position ? low : nil
    }
}
