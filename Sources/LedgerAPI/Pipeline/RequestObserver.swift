package import Ledger

/// Is notified of every request once, when it is answered: the source of log lines and metrics.
package protocol RequestObserver: Sendable {
    /// Receives a request; called on the request's path, so it must be quick and must not block.
    func observed(_ request: RequestObservation)
}

/// The facts of a request that may be logged: no token, path, query or personal data.
package struct RequestObservation: Hashable, Sendable {
    /// The method, or `OTHER` for one that HTTP does not define.
    package let method: String
    /// The template of the route, with parameters in braces; `unmatched` without a route.
    package let route: String
    /// The status of the response.
    package let status: Int
    /// The time from the call of the handler to the response.
    package let duration: Duration
    /// The value of the response's `X-Request-Id`.
    package let requestID: String
    /// The request's span in its client's trace; nil without a valid `traceparent`.
    package let trace: TraceContext?

    /// Describes a request.
    package init(
        method: String, route: String, status: Int, duration: Duration, requestID: String,
        trace: TraceContext?
    ) {
        self.method = Self.methods.contains(method) ? method : "OTHER"
        self.route = route
        self.status = status
        self.duration = duration
        self.requestID = requestID
        self.trace = trace
    }

    /// The route of a request whose path matches none.
    package static let unmatchedRoute = "unmatched"
    /// The route of a request that the server rejected.
    package static let rejectedRoute = "rejected"

    // In order of frequency: a short linear search is cheaper than a set.
    private static let methods = [
        "POST", "GET", "DELETE", "PUT", "HEAD", "OPTIONS", "PATCH",
    ]
}
