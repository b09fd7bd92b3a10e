import Ledger

/// How many events can be taken in beside those that are on their way to an endpoint; pure.
///
/// Those that wait behind another one of their accounts have a bound of their own: one account whose
/// events are refused must not take the room of all.
struct IntakeRoom {
    /// How many events of the log to read.
    let limit: Int
    private var first: Int
    private var behind: Int
    /// Accounts of what was taken in.
    private var busy: Set<AccountID> = []

    /// Finds the room beside what is on its way.
    ///
    /// There is none while it is little, since who looks for more reads whole entries, and none behind an
    /// event that everything waits for.
    init(beside queue: DeliveryQueue, _ configuration: WebhookConfiguration) {
        func room(_ max: Int, _ count: Int) -> Int {
            let least = Swift.max(1, min(max, configuration.pageMax) / 2)
            return max - count >= least ? max - count : 0
        }
        first = room(configuration.pendingMax, queue.firstCount)
        behind = room(configuration.behindMax, queue.behindCount)
        limit =
            queue.hasBarrier || behind == 0 ? 0 : min(first, configuration.pageMax)
    }

    /// Takes an event in; false when there is no more room for it.
    mutating func takes(_ item: DeliveryQueue.Item, beside queue: DeliveryQueue) -> Bool {
        if item.accounts.contains(where: { busy.contains($0) || queue.isBusy($0) }) {
            guard behind > 0 else { return false }
            behind -= 1
        } else {
            guard first > 0 else { return false }
            first -= 1
        }
        busy.formUnion(item.accounts)
        // What comes after it is taken in when it is over.
        if item.isBarrier { (first, behind) = (0, 0) }
        return true
    }
}
