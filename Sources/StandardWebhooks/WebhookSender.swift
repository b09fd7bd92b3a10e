internal import HTTPClient

/// Sends requests to webhook endpoints.
///
/// Each ends within 15 seconds. Redirects are not followed, and at most 64 KiB of an answer's body are read.
package final class WebhookSender: Sendable {
    /// Longest request, in seconds, from the first byte to the end of the answer.
    package static let secondsMax: Int64 = 15
    /// Most bytes of an answer's body that are read.
    static let bodyBytesMax = 65_536

    private let timeLimit: Duration
    private let trustedFile: String?
    /// A client of its own, so that ``stop()`` ends webhooks and nothing else.
    private let client = HTTPClient()

    /// Creates a sender; its thread starts with the first request.
    package convenience init() {
        self.init(timeLimit: .seconds(Self.secondsMax))
    }

    /// Creates a sender with another limit, and with the certificates of a PEM file.
    init(timeLimit: Duration, trustedFile: String? = nil) {
        self.timeLimit = timeLimit
        self.trustedFile = trustedFile
    }

    /// Sends a request and waits for its outcome.
    package func send(_ request: WebhookRequest) async -> WebhookOutcome {
        let request = ClientRequest(
            url: request.url, fields: request.fields, body: request.body,
            answerBody: .dropped(bytesMax: Self.bodyBytesMax))
        do throws(TransferFault) {
            let answer = try await client.send(
                request, within: timeLimit, trustedFile: trustedFile)
            return .answered(status: answer.status, retryAfterSeconds: answer.retryAfterSeconds)
        } catch {
            return .failed(WebhookFault(error))
        }
    }

    /// Ends every request under way, and every later one at once.
    package func stop() {
        client.stop()
    }
}
