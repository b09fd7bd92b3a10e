import Ledger

/// The number of events that can be added to the pending ones of an endpoint; pure.
///
/// Events that wait behind another one of their accounts have a separate limit: one account whose events are
/// refused must not use up the capacity of all.
struct IntakeCapacity {
    /// The number of events of the log to read.
    let limit: Int
    private var first: Int
    private var behind: Int
    /// The accounts of the events added so far.
    private var busy: Set<AccountID> = []

    /// Computes the capacity left by the pending events.
    ///
    /// It is 0 while little is left, since every poll reads whole entries, and 0 after a barrier.
    init(beside queue: DeliveryQueue, _ configuration: WebhookConfiguration) {
        func capacity(_ max: Int, _ count: Int) -> Int {
            let least = Swift.max(1, min(max, configuration.pageMax) / 2)
            return max - count >= least ? max - count : 0
        }
        first = capacity(configuration.pendingMax, queue.firstCount)
        behind = capacity(configuration.behindMax, queue.behindCount)
        limit =
            queue.hasBarrier || behind == 0 ? 0 : min(first, configuration.pageMax)
    }

    /// Adds an event; returns false when there is no capacity left for it.
    mutating func admits(_ item: DeliveryQueue.Item, beside queue: DeliveryQueue) -> Bool {
        if item.accounts.contains(where: { busy.contains($0) || queue.isBusy($0) }) {
            guard behind > 0 else { return false }
            behind -= 1
        } else {
            guard first > 0 else { return false }
            first -= 1
        }
        busy.formUnion(item.accounts)
        // Later events are added once the barrier is done.
        if item.isBarrier { (first, behind) = (0, 0) }
        return true
    }
}
