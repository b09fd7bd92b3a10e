/// Hears of every request once, when it is answered: the source of log lines and metrics.
package protocol RequestObserver: Sendable {
    /// Takes a request in; called on the request's way, so it must be quick and must not block.
    func observed(_ request: RequestObservation)
}

/// What is said of a request: no token, no path, no query, nobody's data.
package struct RequestObservation: Hashable, Sendable {
    /// The method, `OTHER` for one that HTTP does not know.
    package let method: String
    /// The template of the route, such as `/v1/auth/link/{provider}`; `unmatched` when there is
    /// none.
    package let route: String
    /// The status of the answer.
    package let status: Int
    /// From the call of the handler to the answer.
    package let duration: Duration
    /// The name that the answer carries in `X-Request-Id`.
    package let requestID: String

    /// Describes a request.
    package init(
        method: String, route: String, status: Int, duration: Duration, requestID: String
    ) {
        self.method = Self.methods.contains(method) ? method : "OTHER"
        self.route = route
        self.status = status
        self.duration = duration
        self.requestID = requestID
    }

    /// The route of a request whose path no route has.
    package static let unmatchedRoute = "unmatched"
    /// The route of a request that the server itself refused.
    package static let rejectedRoute = "rejected"

    // Those that come often stand first: looking through them is cheaper than a set.
    private static let methods = [
        "POST", "GET", "DELETE", "PUT", "HEAD", "OPTIONS", "PATCH",
    ]
}
