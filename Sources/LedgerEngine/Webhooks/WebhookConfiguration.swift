package import Ledger
package import StandardWebhooks

/// The configuration of a webhook dispatcher.
package struct WebhookConfiguration: Sendable {
    /// Sends one request; returns within bounded time.
    package typealias Send = @Sendable (WebhookRequest) async -> WebhookOutcome

    /// Sends a request.
    package var send: Send
    /// Runs an attempt, which outlives the step that starts it.
    var start: @Sendable (@escaping @Sendable () async -> Void) -> Void = { attempt in
        Task { await attempt() }
    }
    /// The clock of leases and their renewal.
    var clock: @Sendable () -> ContinuousClock.Instant = { .now }
    package var retries = RetrySchedule()
    /// The clock, used only for `webhook-timestamp` and the pauses between attempts.
    package var now: @Sendable () -> Timestamp
    /// The maximum number of concurrent requests to one endpoint.
    package var inFlightMax = 16
    /// The maximum number of pending events of one endpoint that wait for no other one; further events wait
    /// in the log.
    package var pendingMax = 1_000
    /// The maximum number of events that wait behind another one of their accounts.
    package var behindMax = 100_000
    /// The maximum number of events of the log read at a time.
    package var pageMax = 500
    /// The time after which an event is sent before its time while no more are read from the log, in seconds.
    package var probeSeconds: Int64 = 600
    /// The maximum wait for responses when the dispatcher stops.
    package var drainLimit = Duration.seconds(2)
    /// The seconds after which a lease lapses unless it is renewed.
    package var leaseSeconds: Int32 = 15
    /// The time between renewals of a lease when nothing is written.
    package var renewal = Duration.seconds(4)
    /// The time after which the log is read without a wake-up, for events that other processes append.
    package var poll = Duration.milliseconds(250)
    /// The time between searches for free endpoints.
    package var search = Duration.seconds(1)

    /// Creates a configuration with the default limits.
    package init(now: @escaping @Sendable () -> Timestamp, send: @escaping Send) {
        self.now = now
        self.send = send
    }
}
