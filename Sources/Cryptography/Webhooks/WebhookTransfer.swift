internal import CCurl

/// One request to a webhook endpoint over libcurl; owns its handle.
@safe final class WebhookTransfer {
    /// Most bytes of an answer's head that are read, informational answers and trailers included.
    static let headBytesMax = 65_536
    /// Most bytes of an answer's body that are read.
    static let bodyBytesMax = 65_536

    /// What a receiver returns to end the transfer; no piece is ever that long.
    private static let refusedCount = Int(UInt32.max)

    /// libcurl is made ready once, by whoever is first.
    static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    let handle: UnsafeMutableRawPointer
    private let address: WebAddress
    private var fields: UnsafeMutablePointer<curl_slist>?
    private var headBytes = 0
    private var bodyBytes = 0
    /// Whether the head of the final answer has come to its end.
    private var isAnswered = false

    /// Tells a transfer from the others that are under way.
    var key: Int { Int(bitPattern: unsafe handle) }

    /// Makes a transfer that has not begun.
    init(
        _ request: WebhookRequest, limit: Duration, trustedFile: String?
    ) throws(WebhookFault) {
        guard let address = WebAddress(request.url) else { throw .unacceptableAddress }
        guard Self.isReady, let made = unsafe curl_easy_init() else { throw .unreachable }
        self.address = address
        unsafe handle = made
        try restrict(to: limit)
        try secure(trustedFile)
        try describe(request)
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(fields)
    }

    /// What the transfer came to.
    func outcome(_ code: CURLcode) -> WebhookOutcome {
        guard isAnswered else {
            return .failed(Self.fault(code))
        }
        let seconds = unsafe ccurl_retry_after(handle)
        return .answered(
            status: unsafe ccurl_status(handle), retryAfterSeconds: seconds > 0 ? seconds : nil)
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

    private func restrict(to limit: Duration) throws(WebhookFault) {
        // 0 would mean no limit.
        try set(CURLOPT_TIMEOUT_MS, to: max(1, Int(limit / .milliseconds(1))))
        try set(CURLOPT_NOSIGNAL, to: 1)
        // A name server that is silent must not hold up the others when the time is over.
        try set(CURLOPT_QUICK_EXIT, to: 1)
        try set(CURLOPT_FOLLOWLOCATION, to: 0)
        try set(CURLOPT_PROTOCOLS_STR, to: address.scheme)
        try set(CURLOPT_HTTP_VERSION, to: Int(CURL_HTTP_VERSION_1_1))
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, to: 1)
        if address.isOfThisMachine {
            // Otherwise the environment names the proxy: `https_proxy`, `all_proxy`, `no_proxy`.
            try set(CURLOPT_PROXY, to: "")
        }
    }

    private func secure(_ trustedFile: String?) throws(WebhookFault) {
        try set(CURLOPT_SSL_VERIFYPEER, to: 1)
        try set(CURLOPT_SSL_VERIFYHOST, to: 2)
        try set(CURLOPT_SSLVERSION, to: Int(CURL_SSLVERSION_TLSv1_2))
        if let trustedFile { try set(CURLOPT_CAINFO, to: trustedFile) }
    }

    private func describe(_ request: WebhookRequest) throws(WebhookFault) {
        // Without a body that is held back until the receiver has said that it may come.
        for line in request.fields.map({ "\($0.name): \($0.value)" }) + ["Expect:"] {
            guard let longer = unsafe curl_slist_append(fields, line) else { throw .unreachable }
            unsafe fields = longer
        }
        try set(CURLOPT_USERAGENT, to: "account-ledger")
        let body = unsafe request.body.withUnsafeBytes { bytes in
            unsafe ccurl_set_body(
                handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        guard
            body == CURLE_OK, unsafe ccurl_set_fields(handle, fields) == CURLE_OK,
            unsafe ccurl_set_address(handle, address.parts) == CURLE_OK
        else { throw .unreachable }
        // The transfer outlives its time in the set, and libcurl calls back only then.
        let code = unsafe ccurl_set_receivers(
            handle,
            { bytes, size, count, context in
                unsafe WebhookTransfer.receive(bytes, size * count, context) { transfer, line in
                    unsafe transfer.takeLine(line)
                }
            },
            { bytes, size, count, context in
                unsafe WebhookTransfer.receive(bytes, size * count, context) { transfer, piece in
                    transfer.bodyBytes += piece.count
                    return transfer.bodyBytes <= WebhookTransfer.bodyBytesMax
                }
            }, Unmanaged.passUnretained(self).toOpaque())
        guard code == CURLE_OK else { throw .unreachable }
    }

    /// Hands bytes on; returns how many were taken, and any other number ends the transfer.
    private static func receive(
        _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
        _ take: (WebhookTransfer, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        guard let context = unsafe context else { return refusedCount }
        let transfer = unsafe Unmanaged<WebhookTransfer>.fromOpaque(context).takeUnretainedValue()
        let isTaken = unsafe take(transfer, UnsafeRawBufferPointer(start: bytes, count: count))
        return isTaken ? count : refusedCount
    }

    /// Takes one line of the head with its end; after the empty line of an informational answer the real
    /// one follows.
    private func takeLine(_ line: UnsafeRawBufferPointer) -> Bool {
        headBytes += line.count
        guard headBytes <= Self.headBytesMax else { return false }
        let isEmpty = unsafe line.allSatisfy { byte in byte == 0x0D || byte == 0x0A }
        if isEmpty, !(100...199).contains(unsafe ccurl_status(handle)) { isAnswered = true }
        return true
    }

    private func set(_ option: CURLoption, to number: Int) throws(WebhookFault) {
        guard unsafe ccurl_set_number(handle, option, number) == CURLE_OK else {
            throw .unreachable
        }
    }

    private func set(_ option: CURLoption, to text: String) throws(WebhookFault) {
        guard unsafe ccurl_set_text(handle, option, text) == CURLE_OK else {
            throw .unreachable
        }
    }
}
