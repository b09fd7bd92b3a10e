import Dispatch
import Foundation

/// SIGTERM and SIGINT as a sequence instead of their default action.
enum StopSignals {
    private static let numbers = [SIGTERM, SIGINT]

    /// Returns the signals received from now on.
    static func received() -> AsyncStream<Int32> {
        AsyncStream { continuation in
            let sources = Sources(
                numbers.map { number in
                    // The default action would end the process before the source receives the signal.
                    signal(number, SIG_IGN)
                    let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                    source.setEventHandler { continuation.yield(number) }
                    source.resume()
                    return source
                })
            continuation.onTermination = { _ in sources.cancel() }
        }
    }

    /// Keeps the sources alive as long as the stream.
    // Protected by being immutable; Dispatch lets any thread cancel a source.
    private final class Sources: @unchecked Sendable {
        private let all: [any DispatchSourceSignal]

        init(_ all: [any DispatchSourceSignal]) {
            self.all = all
        }

        func cancel() {
            for source in all { source.cancel() }
        }
    }
}
