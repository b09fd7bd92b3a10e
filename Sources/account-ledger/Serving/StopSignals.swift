import Dispatch
import Foundation

/// SIGTERM and SIGINT as a sequence instead of their default action.
enum StopSignals {
    private static let numbers = [SIGTERM, SIGINT]

    /// Returns the signals received from now on.
    ///
    /// Before it returns, a signal ends the process.
    static func received() async -> AsyncStream<Int32> {
        let (stream, continuation) = AsyncStream<Int32>.makeStream()
        let sources = Sources(
            numbers.map { number in
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler { continuation.yield(number) }
                return source
            })
        continuation.onTermination = { _ in sources.cancel() }
        await sources.register()
        return stream
    }

    /// Keeps the sources alive as long as the stream.
    // Protected by being immutable; Dispatch lets any thread register and cancel a source.
    private final class Sources: @unchecked Sendable {
        private let all: [any DispatchSourceSignal]

        init(_ all: [any DispatchSourceSignal]) {
            self.all = all
        }

        /// Resumes the sources, and waits until Dispatch has registered them on its own thread: if the signals
        /// were ignored meanwhile, one of them would be lost.
        func register() async {
            for source in all {
                await withCheckedContinuation { continuation in
                    source.setRegistrationHandler { continuation.resume() }
                    source.resume()
                }
            }
        }

        func cancel() {
            for source in all { source.cancel() }
        }
    }
}
