import Ledger
import LedgerAPI
import Synchronization

/// Writes a log line and metrics for each answered request.
struct RequestRecord: RequestObserver {
    /// Routes of health checks, whose successes are not logged.
    private static let quietRoutes = ["/healthz", "/readyz"]

    let log: Log
    let metrics: RequestMetrics
    private let refusals = RefusalLog()

    init(log: Log, metrics: RequestMetrics) {
        self.log = log
        self.metrics = metrics
    }

    func observed(_ request: RequestObservation) {
        let seconds = request.duration.secondsValue
        metrics.observe(request, seconds: seconds)
        if request.status == 503, request.route == RequestObservation.rejectedRoute {
            // A line for each would flood the log under overload and take capacity from other
            // requests.
            guard let count = refusals.add() else { return }
            return log.write(.warning, "refused for lack of capacity", ["count": .number(count)])
        }
        log.write(
            Self.level(of: request), "request",
            [
                "request_id": .text(request.requestID), "method": .text(request.method),
                "route": .text(request.route), "status": .number(Int64(request.status)),
                "duration_us": .number(Int64(seconds * 1_000_000)),
                "trace_id": request.trace.map { .text($0.traceText) },
                "span_id": request.trace.map { .text($0.spanText) },
            ])
    }

    private static func level(of request: RequestObservation) -> LogLevel {
        switch request.status {
        // Deliberate: overloaded, not ready or without a database; the cause has its own line.
        case 503: .warning
        case 500...: .error
        case ..<400 where quietRoutes.contains(request.route): .debug
        default: .info
        }
    }
}

/// Counts refusals, of which at most one line per second is written.
private final class RefusalLog: Sendable {
    private struct State {
        var count: Int64 = 0
        var lastLine: ContinuousClock.Instant?
    }

    private static let pause = Duration.seconds(1)

    private let state = Mutex(State())

    /// Counts a refusal; returns the number since the last line when the next line is due.
    func add() -> Int64? {
        let now = ContinuousClock.now
        return state.withLock { state in
            state.count += 1
            if let last = state.lastLine, now - last < Self.pause { return nil }
            defer { state.count = 0 }
            state.lastLine = now
            return state.count
        }
    }
}
