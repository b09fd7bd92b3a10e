package import Ledger

extension Timestamp {
    /// The due time of an event that need not wait, independent of the clock of the sending process.
    static let immediate = Timestamp(microseconds: 0)
}

/// The pending events of one endpoint, in the order of the log; pure.
///
/// An event is due when no earlier event of any account it touches is pending: the events of an account are
/// sent one after the other, concurrently with those of other accounts. A merge touches both accounts and so
/// orders their events at that point. An event about the whole log is a barrier: it waits for everything
/// earlier, and everything later waits for it.
///
/// Each event counts the events that it waits for, so that no step scans those that wait behind another one.
package struct DeliveryQueue: Sendable {
    /// A pending event.
    package struct Item: Hashable, Sendable {
        package let position: LogPosition
        package let event: EventID
        package let type: String
        package let accounts: [AccountID]
        package internal(set) var attempts: Int
        package internal(set) var next: Timestamp
        /// The end of the last attempt, if it was answered with a status that can ask for a pause.
        package internal(set) var refusedAt: Timestamp?
        /// Whether it is sent before its time, which is no attempt of the plan.
        var isEarly = false

        /// Creates a pending event.
        package init(
            position: LogPosition, event: EventID, type: String, accounts: [AccountID],
            attempts: Int = 0, next: Timestamp, refusedAt: Timestamp? = nil
        ) {
            self.position = position
            self.event = event
            self.type = type
            self.accounts = accounts
            self.attempts = attempts
            self.next = next
            self.refusedAt = refusedAt
        }

        /// Whether it concerns all accounts although it names none: later events reuse the positions of lost
        /// ones.
        var isBarrier: Bool {
            accounts.isEmpty && type == Event.Name.ledgerRestored.rawValue
        }
    }

    /// An event and its dependencies.
    private struct Node: Sendable {
        var item: Item
        /// The number of dependencies on earlier events.
        var dependencyCount = 0
        /// The events that depend on it, once for each dependency.
        var dependents: [LogPosition] = []
    }

    /// The longest possible pause: a later due time was computed with another clock.
    private let pauseMax: Duration
    private var nodes: [LogPosition: Node] = [:]
    /// The events without dependencies, in the order of the log.
    private var first: [LogPosition] = []
    /// The last event of each account.
    private var last: [AccountID: LogPosition] = [:]
    /// The barrier that all later events wait for.
    private var barrier: LogPosition?
    /// A barrier that still waits, and the events after it.
    private var later: ArraySlice<Item> = []
    private(set) var started: Set<LogPosition> = []
    /// The last event that was started before its time.
    private var lastEarly: LogPosition?
    /// The time until which the receiver asked for no requests.
    private var heldUntil: Timestamp?

    /// Creates an empty queue.
    init(pauseMax: Duration) {
        self.pauseMax = pauseMax
    }

    var count: Int { nodes.count + later.count }

    /// The number of events without dependencies: started, due, or waiting for their time.
    var firstCount: Int { first.count }

    /// The number of events that wait behind another one.
    var behindCount: Int { count - first.count }

    /// Whether all later events have to wait for a barrier.
    var hasBarrier: Bool { barrier != nil || !later.isEmpty }

    /// Whether an account has a pending event.
    func isBusy(_ account: AccountID) -> Bool { last[account] != nil }

    /// Adds events that are later than all in the queue.
    mutating func add(_ more: [Item]) {
        later += more
        releaseLater()
    }

    /// Starts at most `countMax` due events.
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

    /// Starts an event that waits for its time, at each call another one; nil without any, or while all are held.
    mutating func startEarly(at now: Timestamp) -> Item? {
        guard heldUntil.map({ waits(until: $0, at: now) }) != true else { return nil }
        let waiting = first.filter { !started.contains($0) }
        let next = lastEarly.flatMap { last in waiting.first { $0 > last } } ?? waiting.first
        guard let next, var item = nodes[next]?.item else { return nil }
        lastEarly = next
        started.insert(next)
        item.isEarly = true
        return item
    }

    /// Returns when another event can start, of at most `countMax` at a time; nil when one has to end first.
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

    /// Removes an event that was delivered or given up.
    mutating func remove(_ position: LogPosition) {
        started.remove(position)
        guard let node = nodes.removeValue(forKey: position) else { return }
        let index = insertionIndex(of: position)
        if index < first.count, first[index] == position { first.remove(at: index) }
        for account in node.item.accounts where last[account] == position { last[account] = nil }
        for follower in node.dependents {
            nodes[follower]?.dependencyCount -= 1
            if nodes[follower]?.dependencyCount == 0 {
                first.insert(follower, at: insertionIndex(of: follower))
            }
        }
        if barrier == position { barrier = nil }
        releaseLater()
    }

    /// Returns an event that was not delivered to the queue.
    mutating func requeue(_ item: Item) {
        started.remove(item.position)
        nodes[item.position]?.item = item
        nodes[item.position]?.item.isEarly = false
    }

    /// Starts no event before a time.
    mutating func hold(until moment: Timestamp) {
        heldUntil = max(heldUntil ?? moment, moment)
    }

    private func waits(until moment: Timestamp, at now: Timestamp) -> Bool {
        moment > now && .microseconds(moment.microseconds - now.microseconds) <= pauseMax
    }

    /// Adds the dependencies of events that no longer wait for a barrier.
    private mutating func releaseLater() {
        while barrier == nil, let item = later.first, !item.isBarrier || nodes.isEmpty {
            later.removeFirst()
            if item.isBarrier { barrier = item.position }
            addDependencies(item)
        }
    }

    private mutating func addDependencies(_ item: Item) {
        var node = Node(item: item)
        for account in item.accounts {
            let earlier = last.updateValue(item.position, forKey: account)
            guard let earlier, earlier != item.position else { continue }
            nodes[earlier]?.dependents.append(item.position)
            node.dependencyCount += 1
        }
        nodes[item.position] = node
        if node.dependencyCount == 0 {
            first.insert(item.position, at: insertionIndex(of: item.position))
        }
    }

    /// Returns the index of an event among the first ones, or its insertion index.
    private func insertionIndex(of position: LogPosition) -> Int {
        var (low, high) = (0, first.count)
        while low < high {
            let middle = (low + high) / 2
            if first[middle] < position { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
