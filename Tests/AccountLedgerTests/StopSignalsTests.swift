import Foundation
import Testing

@testable import account_ledger

/// Signals that ask the process to stop.
@Suite(.serialized) struct StopSignalsTests {
    @Test(.timeLimit(.minutes(1)), arguments: [SIGTERM, SIGINT])
    func `a signal is received as soon as the sequence exists`(number: Int32) async {
        for _ in 0..<30 {
            let signals = await StopSignals.received()
            kill(getpid(), number)
            var iterator = signals.makeAsyncIterator()
            #expect(await iterator.next() == number)
        }
    }
}
