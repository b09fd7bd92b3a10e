internal import CCurl
internal import Foundation
internal import Synchronization

/// The thread that runs the transfers of a sender, with their kept connections.
///
/// One thread for all transfers: with one each, a hanging receiver could use up all threads.
final class TransferLoop: Sendable {
    /// A transfer to begin, with the completion of its caller.
    struct Job: Sendable {
        /// Sets the transfer up, on the loop's thread.
        let start: @Sendable () throws(TransferFault) -> Running
        /// Called instead of the transfer's end when it does not take place.
        let fail: @Sendable (TransferFault) -> Void
    }

    /// A transfer under way, and what is called with the code of its end.
    struct Running {
        let transfer: any HandleOwner
        let end: (CURLcode) -> Void
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
        guard isAccepted else { return job.fail(.stopped) }
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
        for job in waiting { job.fail(.stopped) }
    }

    private func run() {
        // Without libcurl nothing is sent; the callers try again later.
        guard let transfers else { return stop() }
        var running: [Int: (one: Running, fail: @Sendable (TransferFault) -> Void)] = [:]
        while let jobs = removeWaiting() {
            for job in jobs {
                do throws(TransferFault) {
                    let one = try job.start()
                    guard transfers.add(one.transfer) else { throw .unreachable }
                    running[one.transfer.key] = (one, job.fail)
                } catch {
                    job.fail(error)
                }
            }
            transfers.perform()
            while let ended = transfers.nextEnded() {
                guard let (one, _) = running.removeValue(forKey: ended.key) else { continue }
                // First: its end may read from the handle, which the set has done with.
                transfers.remove(one.transfer)
                one.end(ended.code)
            }
            transfers.wait()
        }
        for (one, fail) in running.values {
            transfers.remove(one.transfer)
            fail(.stopped)
        }
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

/// An owner of one of libcurl's handles.
protocol HandleOwner: AnyObject {
    /// The handle, which the owner releases.
    var handle: UnsafeMutableRawPointer { get }
}

extension HandleOwner {
    /// Identifies the transfer among those under way.
    var key: Int { Int(bitPattern: unsafe handle) }
}
