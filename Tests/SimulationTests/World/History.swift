import Ledger
import Synchronization

@testable import LedgerEngine

/// One arrival of a request at a process, and the process's answer.
struct Delivery: Sendable {
    let command: Command
    let process: Int
    /// The number of committed batches at the time of the request.
    let askedAt: Int
    /// The number of committed batches at the time of the answer.
    var answeredAt: Int?
    var answer: Sequencer.Answer?
    /// Whether the store refused a batch with this command on purpose.
    var wasRefused = false
}

/// The requests and answers as an outside observer sees them.
final class History: Sendable {
    private let deliveries = Mutex<[Delivery]>([])

    var all: [Delivery] { deliveries.withLock(\.self) }

    func ask(_ command: Command, of process: Int, after count: Int) -> Int {
        deliveries.withLock { deliveries in
            deliveries.append(Delivery(command: command, process: process, askedAt: count))
            return deliveries.count - 1
        }
    }

    func answer(_ delivery: Int, _ answer: Sequencer.Answer, after count: Int) {
        deliveries.withLock { deliveries in
            deliveries[delivery].answer = answer
            deliveries[delivery].answeredAt = count
        }
    }

    func refuse(_ refused: some Sequence<Int>) {
        deliveries.withLock { deliveries in
            for delivery in refused {
                deliveries[delivery].wasRefused = true
            }
        }
    }
}
