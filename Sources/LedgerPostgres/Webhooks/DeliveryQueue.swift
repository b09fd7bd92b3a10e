import Ledger

extension Timestamp {
    /// When an event is due that waits for nothing, whatever the clock of the process that sends it.
    static let atOnce = Timestamp(microseconds: 0)
}

/// The events that are on their way to one endpoint, in the order of the log; pure.
///
/// An event is due when no earlier one of any account that it touches is on its way: so the events of an
/// account are sent one after the other, and those of others beside them. A merge touches both accounts,
/// and holds them together at that place. What concerns the whole log waits for everything earlier, and
/// everything later waits for it.
///
/// Each event counts what it waits for, so that no step goes over those that wait behind another one.
struct DeliveryQueue {
    /// An event that is on its way.
    struct Item: Hashable, Sendable {
        let position: LogPosition
        let event: EventID
        let type: String
        let accounts: [AccountID]
        var attempts = 0
        var next: Timestamp

        /// Whether it concerns all accounts although it names none: what follows has the places of events
        /// that were lost.
        var isBarrier: Bool {
            accounts.isEmpty && type == Event.Name.ledgerRestored.rawValue
        }
    }

    /// An event, and how it is tied to others.
    private struct Node {
        var item: Item
        /// How many ties to earlier events it has.
        var ties = 0
        /// Those that are tied to it, once for each tie.
        var followers: [LogPosition] = []
    }

    /// The longest pause that there is: what is due later than that was planned by another clock.
    private let pauseMax: Duration
    private var nodes: [LogPosition: Node] = [:]
    /// The events that wait for no other one, in the order of the log.
    private var first: [LogPosition] = []
    /// The last event of each account.
    private var last: [AccountID: LogPosition] = [:]
    /// The event that everything waits for.
    private var barrier: LogPosition?
    /// What comes with a barrier that still waits, or after one.
    private var later: ArraySlice<Item> = []
    private(set) var started: Set<LogPosition> = []
    /// Until when the receiver wants nothing.
    private var heldUntil: Timestamp?

    /// Makes an empty queue.
    init(pauseMax: Duration) {
        self.pauseMax = pauseMax
    }

    var count: Int { nodes.count + later.count }

    /// How many wait for no other one: they are under way, are due, or wait for their time.
    var firstCount: Int { first.count }

    /// How many wait behind another one.
    var behindCount: Int { count - first.count }

    /// Whether all that is added now has to wait for one event.
    var hasBarrier: Bool { barrier != nil || !later.isEmpty }

    /// Whether an account has an event on its way.
    func isBusy(_ account: AccountID) -> Bool { last[account] != nil }

    /// Adds events that come after all that are there.
    mutating func add(_ more: [Item]) {
        later += more
        goOn()
    }

    /// Starts at most so many events that are due.
    mutating func start(_ countMax: Int, at now: Timestamp) -> [Item] {
        guard countMax > 0, heldUntil.map({ waits(until: $0, at: now) }) != true else { return [] }
        var due: [Item] = []
        for position in first where !started.contains(position) {
            guard due.count < countMax else { break }
            guard let item = nodes[position]?.item else { continue }
            if !waits(until: item.next, at: now) { due.append(item) }
        }
        started.formUnion(due.map(\.position))
        return due
    }

    /// When something may begin, of at most so many at a time; nil when only an end of what was started
    /// brings that.
    func next(_ countMax: Int, at now: Timestamp) -> Timestamp? {
        guard started.count < countMax else { return nil }
        var next: Timestamp?
        for position in first where !started.contains(position) {
            guard let item = nodes[position]?.item else { continue }
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
        guard let node = nodes.removeValue(forKey: position) else { return }
        let index = place(of: position)
        if index < first.count, first[index] == position { first.remove(at: index) }
        for account in node.item.accounts where last[account] == position { last[account] = nil }
        for follower in node.followers {
            nodes[follower]?.ties -= 1
            if nodes[follower]?.ties == 0 { first.insert(follower, at: place(of: follower)) }
        }
        if barrier == position { barrier = nil }
        goOn()
    }

    /// Puts an event back that was not taken.
    mutating func putBack(_ item: Item) {
        started.remove(item.position)
        nodes[item.position]?.item = item
    }

    /// Sends nothing before a moment.
    mutating func hold(until moment: Timestamp) {
        heldUntil = max(heldUntil ?? moment, moment)
    }

    private func waits(until moment: Timestamp, at now: Timestamp) -> Bool {
        moment > now && .microseconds(moment.microseconds - now.microseconds) <= pauseMax
    }

    /// Ties in what no barrier keeps waiting.
    private mutating func goOn() {
        while barrier == nil, let item = later.first, !item.isBarrier || nodes.isEmpty {
            later.removeFirst()
            if item.isBarrier { barrier = item.position }
            tie(item)
        }
    }

    private mutating func tie(_ item: Item) {
        var node = Node(item: item)
        for account in item.accounts {
            let earlier = last.updateValue(item.position, forKey: account)
            guard let earlier, earlier != item.position else { continue }
            nodes[earlier]?.followers.append(item.position)
            node.ties += 1
        }
        nodes[item.position] = node
        if node.ties == 0 { first.insert(item.position, at: place(of: item.position)) }
    }

    /// Where an event is among the first ones, or belongs.
    private func place(of position: LogPosition) -> Int {
        var (low, high) = (0, first.count)
        while low < high {
            let middle = (low + high) / 2
            if first[middle] < position { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
