package import Cryptography
package import Ledger

/// What a dispatcher of webhooks needs to know.
package struct WebhookConfiguration: Sendable {
    /// Sends one request; returns within bounded time.
    package typealias Send = @Sendable (WebhookRequest) async -> WebhookOutcome

    /// The runtime role's URL.
    package var url: String
    /// How a request is sent.
    package var send: Send
    package var retries = RetryPlan()
    /// The time, of which only `webhook-timestamp` and the pauses between attempts depend.
    package var now: @Sendable () -> Timestamp
    /// Requests to one endpoint that are under way at the same time, at the most.
    package var inFlightMax = 16
    /// Events that are on their way to one endpoint and wait for no other one, at the most; what comes
    /// then waits in the log.
    package var pendingMax = 1_000
    /// Events that wait behind another one of their accounts, at the most.
    package var behindMax = 100_000
    /// Events of the log that are read at a time.
    package var pageMax = 500
    /// How long answers are waited for when the dispatcher is stopped.
    package var farewell = Duration.seconds(2)
    /// How long an endpoint is held without a sign of life.
    package var leaseSeconds: Int32 = 15
    /// How often a lease is prolonged when nothing is written.
    package var renewal = Duration.seconds(4)
    /// How long to wait for a wake-up before looking by itself, for what other processes append.
    package var poll = Duration.milliseconds(250)
    /// How often it is looked for endpoints that nobody holds.
    package var search = Duration.seconds(1)

    /// Describes a dispatcher with the usual limits.
    package init(
        url: String, now: @escaping @Sendable () -> Timestamp, send: @escaping Send
    ) {
        self.url = url
        self.now = now
        self.send = send
    }
}
