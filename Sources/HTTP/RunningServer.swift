import Dispatch
import Synchronization

/// The running daemons and their graceful stop.
final class RunningServer: Sendable {
    /// Time for sending finished responses after the grace time.
    private static let flushTimeMax: Duration = .seconds(2)
    /// Time for sending the buffered bytes of streams.
    private static let streamEndTimeMax: Duration = .seconds(1)
    private static let watchIntervalMax: Duration = .seconds(1)

    private let core: ServerCore
    private let daemons: Mutex<DaemonPool?>
    private let watch: Task<Void, Never>
    /// Entered until the daemons have stopped.
    private let stopped = DispatchGroup()

    init(core: ServerCore, socket: consuming ListenSocket) throws(HTTPServerError) {
        self.core = core
        daemons = Mutex(try DaemonPool(core: core, socket: socket))
        let interval = min(
            Self.watchIntervalMax, core.limits.requestReceiveTimeMax / 4,
            core.limits.firstRequestLineTimeMax / 4)
        let connections = core.connections
        watch = Task { await connections.watch(every: interval) }
        stopped.enter()
    }

    /// Stops, or waits for the end of a stop in progress.
    func stop(grace: Duration) async {
        await withCheckedContinuation { continuation in
            stopped.notify(queue: .global()) { continuation.resume() }
            guard core.slots.beginDraining() else { return }
            // Waiting for libmicrohttpd's threads blocks, which tasks must not do.
            DispatchQueue.global().async { self.drain(grace: grace) }
        }
    }

    private func drain(grace: Duration) {
        daemons.withLock { $0?.quiesce() }
        // Most streams do not end by themselves, and their clients can resume, or begin again, at another server.
        let streamsEnd = MonotonicTime.now + Self.streamEndTimeMax
        for exchange in core.slots.inFlightExchanges { exchange.stopStream(by: streamsEnd) }
        let deadline = Self.time(after: grace)
        // Each round ends when idle or at the deadline; a request can arrive in between.
        while core.slots.waitUntilIdle(deadline), !core.slots.stopIfIdle() {}
        for exchange in core.slots.stop() { core.abandon(exchange) }
        let isIdle = core.slots.waitUntilIdle(Self.time(after: Self.flushTimeMax))
        watch.cancel()
        var last = daemons.withLock { $0.take() }
        if !isIdle, core.slots.stop().contains(where: \.isSuspended) { last.take()?.leak() }
        last = nil
        stopped.leave()
    }

    private static func time(after duration: Duration) -> DispatchTime {
        .now() + .nanoseconds(Int(duration.wholeNanoseconds))
    }
}
