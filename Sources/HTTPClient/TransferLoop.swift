internal import Foundation
internal import Synchronization

/// The thread that runs the transfers of a sender, with their kept connections.
///
/// One thread for all transfers: with one each, a hanging receiver could use up all threads.
final class TransferLoop: Sendable {
    /// A request to send, with the completion of its caller.
    struct Job: Sendable {
        let request: ClientRequest
        let timeLimit: Duration
        let trustedFile: String?
        let end: @Sendable (Result<ClientAnswer, TransferFault>) -> Void
    }

    private struct State {
        var waiting: [Job] = []
        var hasThread = false
        var isStopped = false
    }

    private let state = Mutex(State())
    private let transfers = TransferSet()

    /// Enqueues a transfer; `end` is called once, on any thread.
    func begin(_ job: Job) {
        let (isAccepted, startsThread) = state.withLock { state in
            guard !state.isStopped else { return (false, false) }
            state.waiting.append(job)
            defer { state.hasThread = true }
            return (true, !state.hasThread)
        }
        guard isAccepted else { return job.end(.failure(.stopped)) }
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
        for job in waiting { job.end(.failure(.stopped)) }
    }

    private func run() {
        // Without libcurl nothing is sent; the callers try again later.
        guard let transfers else { return stop() }
        var running: [Int: Running] = [:]
        while let jobs = removeWaiting() {
            for job in jobs {
                do throws(TransferFault) {
                    let transfer = try Transfer(
                        job.request, within: job.timeLimit, trustedFile: job.trustedFile)
                    guard transfers.add(transfer) else { throw .unreachable }
                    running[transfer.key] = Running(transfer: transfer, end: job.end)
                } catch {
                    job.end(.failure(error))
                }
            }
            transfers.perform()
            while let ended = transfers.nextEnded() {
                guard let one = running.removeValue(forKey: ended.key) else { continue }
                let result = one.transfer.result(ended.code)
                transfers.remove(one.transfer)
                one.end(result)
            }
            transfers.wait()
        }
        for one in running.values {
            transfers.remove(one.transfer)
            one.end(.failure(.stopped))
        }
    }

    /// A running transfer, with the completion of its caller.
    private struct Running {
        let transfer: Transfer
        let end: @Sendable (Result<ClientAnswer, TransferFault>) -> Void
    }

    /// Returns the enqueued requests; nil after the stop.
    private func removeWaiting() -> [Job]? {
        state.withLock { state in
            guard !state.isStopped else { return nil }
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}
