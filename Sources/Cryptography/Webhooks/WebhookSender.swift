/// Sends requests to webhook endpoints.
///
/// Each ends within 15 seconds. Redirects are not followed, at most 64 KiB of a response body are read,
/// and no cookies or credentials are kept; connections are reused. Plain `http` is refused unless the host
/// is this machine. Requests to other machines use the proxy of `https_proxy`, if it is set. One thread
/// runs all requests, so that a hanging receiver delays no other.
package final class WebhookSender: Sendable {
    /// Longest request, in seconds, from the first byte to the end of the response.
    package static let secondsMax: Int64 = 15

    private let timeLimit: Duration
    private let trustedFile: String?
    private let loop: TransferLoop

    /// Makes a sender; its thread starts with the first request.
    package convenience init() {
        self.init(timeLimit: .seconds(Self.secondsMax))
    }

    /// Makes a sender with another time limit and trusted certificates.
    init(timeLimit: Duration, trustedFile: String? = nil) {
        self.timeLimit = timeLimit
        self.trustedFile = trustedFile
        loop = TransferLoop()
    }

    deinit {
        loop.stop()
    }

    /// Sends a request and waits for its outcome.
    package func send(_ request: WebhookRequest) async -> WebhookOutcome {
        await withCheckedContinuation { continuation in
            loop.begin(
                TransferLoop.Piece(
                    request: request, timeLimit: timeLimit, trustedFile: trustedFile
                ) { continuation.resume(returning: $0) })
        }
    }

    /// Ends all current requests, and later ones immediately.
    package func stop() {
        loop.stop()
    }
}
