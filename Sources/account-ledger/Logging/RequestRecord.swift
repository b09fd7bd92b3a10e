import LedgerAPI

/// Makes a log line and metrics of each answered request.
struct RequestRecord: RequestObserver {
    /// Routes that are asked all day by machines; their successes are of interest to nobody.
    private static let quietRoutes: Set = ["/healthz", "/readyz"]

    let log: Log
    let metrics: RequestMetrics

    func observed(_ request: RequestObservation) {
        metrics.observe(request)
        log.write(
            Self.level(of: request), "request",
            [
                "request_id": .text(request.requestID), "method": .text(request.method),
                "route": .text(request.route), "status": .number(Int64(request.status)),
                "duration_us": .number(Int64(request.duration.secondsValue * 1_000_000)),
            ])
    }

    private static func level(of request: RequestObservation) -> LogLevel {
        switch request.status {
        // Said on purpose: full, not ready or without a database; what is wrong has a line of its own.
        case 503: .warning
        case 500...: .error
        case ..<400 where quietRoutes.contains(request.route): .debug
        default: .info
        }
    }
}
