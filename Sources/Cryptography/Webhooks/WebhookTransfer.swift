internal import CCurl

/// One request to a webhook endpoint, and what came of it.
final class WebhookTransfer: AnswerReceiver {
    /// Most bytes of an answer's body that are read.
    static let bodyBytesMax = 65_536

    private let transfer: OutgoingTransfer
    private var bodyBytes = 0
    /// Whether the head of the final answer has come to its end.
    private var isAnswered = false

    /// What libcurl knows the transfer by.
    var handle: UnsafeMutableRawPointer { unsafe transfer.handle }

    /// Tells a transfer from the others that are under way.
    var key: Int { Int(bitPattern: unsafe handle) }

    /// Makes a transfer that has not begun.
    init(
        _ request: WebhookRequest, limit: Duration, trustedFile: String?
    ) throws(WebhookFault) {
        guard let address = WebAddress(request.url) else { throw .unacceptableAddress }
        // Without a body that is held back until the receiver has said that it may come.
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

    /// What the transfer came to.
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
