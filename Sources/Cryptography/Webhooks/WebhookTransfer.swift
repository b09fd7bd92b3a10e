internal import CCurl

/// The transfer of a webhook request, and its outcome.
final class WebhookTransfer: AnswerReceiver {
    /// Most bytes read of a response body.
    static let bodyBytesMax = 65_536

    private let transfer: OutgoingTransfer
    private var bodyBytes = 0
    /// Whether the head of the final response is complete.
    private var isAnswered = false

    /// libcurl's handle of the transfer.
    var handle: UnsafeMutableRawPointer { unsafe transfer.handle }

    /// The id of the transfer among the running ones.
    var key: Int { Int(bitPattern: unsafe handle) }

    /// Makes a transfer without starting it.
    init(
        _ request: WebhookRequest, limit: Duration, trustedFile: String?
    ) throws(WebhookFault) {
        guard let address = WebAddress(request.url) else { throw .unacceptableAddress }
        // Without `Expect: 100-continue`, which would delay the body.
        let lines = request.fields.map { "\($0.name): \($0.value)" } + ["Expect:"]
        guard
            let transfer = OutgoingTransfer(
                to: address, fields: lines, within: limit, trustedFile: trustedFile)
        else { throw .unreachable }
        let body = unsafe request.body.withUnsafeBytes { bytes in
            unsafe ccurl_set_body(
                transfer.handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                bytes.count)
        }
        guard body == CURLE_OK else { throw .unreachable }
        self.transfer = transfer
        transfer.receiver = self
    }

    /// Returns the outcome of the transfer.
    func outcome(_ code: CURLcode) -> WebhookOutcome {
        guard isAnswered else {
            return .failed(Self.fault(code))
        }
        let seconds = unsafe ccurl_retry_after(handle)
        return .answered(
            status: transfer.status, retryAfterSeconds: seconds > 0 ? seconds : nil)
    }

    private static func fault(_ code: CURLcode) -> WebhookFault {
        switch code {
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_INVALIDCERTSTATUS:
            .untrusted
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT:
            .unreachable
        default: .broken
        }
    }

    func takeStatus(_: Int) -> Bool {
        isAnswered = true
        return true
    }

    func takePiece(_ piece: UnsafeRawBufferPointer) -> Bool {
        bodyBytes += piece.count
        return bodyBytes <= Self.bodyBytesMax
    }
}
