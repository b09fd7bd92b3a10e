internal import Foundation
internal import Synchronization

/// The thread that runs the transfers of a sender, with their kept connections.
///
/// One thread for all transfers: with one each, a hanging receiver could use up all threads.
final class TransferLoop: Sendable {
    /// A request to send, with the completion of its caller.
    struct Piece: Sendable {
        let request: WebhookRequest
        let timeLimit: Duration
        let trustedFile: String?
        let end: @Sendable (WebhookOutcome) -> Void
    }

    private struct State {
        var waiting: [Piece] = []
        var hasThread = false
        var isStopped = false
    }

    private let state = Mutex(State())
    private let transfers = TransferSet()

    /// Enqueues a transfer; `end` is called once, on any thread.
    func begin(_ piece: Piece) {
        let (isTaken, startsThread) = state.withLock { state in
            guard !state.isStopped else { return (false, false) }
            state.waiting.append(piece)
            defer { state.hasThread = true }
            return (true, !state.hasThread)
        }
        guard isTaken else { return piece.end(.failed(.stopped)) }
        if startsThread {
            Thread.detachNewThread { self.run() }
        } else {
            transfers?.wake()
        }
    }

    /// Ends all transfers and the thread.
    func stop() {
        let waiting = state.withLock { state in
            state.isStopped = true
            defer { state.waiting = [] }
            return state.waiting
        }
        transfers?.wake()
        for piece in waiting { piece.end(.failed(.stopped)) }
    }

    private func run() {
        guard let transfers else {
            // Nothing was sent; the callers retry later.
            return stop()
        }
        var running: [Int: Running] = [:]
        while let pieces = takeWaiting() {
            for piece in pieces {
                do throws(WebhookFault) {
                    let transfer = try WebhookTransfer(
                        piece.request, limit: piece.timeLimit, trustedFile: piece.trustedFile)
                    guard transfers.add(transfer) else { throw .unreachable }
                    running[transfer.key] = Running(transfer: transfer, end: piece.end)
                } catch {
                    piece.end(.failed(error))
                }
            }
            transfers.perform()
            while let ended = transfers.takeEnded() {
                guard let one = running.removeValue(forKey: ended.key) else { continue }
                transfers.remove(one.transfer)
                one.end(one.transfer.outcome(ended.code))
            }
            transfers.wait()
        }
        for one in running.values {
            transfers.remove(one.transfer)
            one.end(.failed(.stopped))
        }
    }

    /// A running transfer, with the completion of its caller.
    private struct Running {
        let transfer: WebhookTransfer
        let end: @Sendable (WebhookOutcome) -> Void
    }

    /// Returns the enqueued requests; nil after the stop.
    private func takeWaiting() -> [Piece]? {
        state.withLock { state in
            guard !state.isStopped else { return nil }
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}
