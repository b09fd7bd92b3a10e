/// Sends requests to webhook endpoints.
///
/// Each ends within 15 seconds. Redirects are not followed, at most 64 KiB of an answer's body are read,
/// and no cookies or credentials are kept; connections are, for the next request. Plain `http` is refused
/// unless the host is this machine. Another machine is asked through the proxy that `https_proxy` names,
/// if it is set. One thread carries all requests, so that a receiver that hangs holds up nothing.
package final class WebhookSender: Sendable {
    /// Longest request, in seconds, from the first byte to the end of the answer.
    package static let secondsMax: Int64 = 15

    private let timeLimit: Duration
    private let trustedFile: String?
    private let loop: TransferLoop

    /// Makes a sender; its thread begins with the first request.
    package convenience init() {
        self.init(timeLimit: .seconds(Self.secondsMax))
    }

    /// Makes a sender with another limit, and with the certificates of a PEM file.
    init(timeLimit: Duration, trustedFile: String? = nil) {
        self.timeLimit = timeLimit
        self.trustedFile = trustedFile
        loop = TransferLoop()
    }

    deinit {
        loop.stop()
    }

    /// Sends a request and waits for what becomes of it.
    package func send(_ request: WebhookRequest) async -> WebhookOutcome {
        await withCheckedContinuation { continuation in
            loop.begin(
                TransferLoop.Piece(
                    request: request, timeLimit: timeLimit, trustedFile: trustedFile
                ) { continuation.resume(returning: $0) })
        }
    }

    /// Ends every request that is under way, and every later one at once.
    package func stop() {
        loop.stop()
    }
}
