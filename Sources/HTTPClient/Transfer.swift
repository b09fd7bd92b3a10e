internal import CCurl

/// One request over libcurl and its answer; owns the handle.
///
/// Time, the head of the answer and its body are limited. Only the address that was checked is requested.
@safe final class Transfer: HandleOwner {
    /// Most bytes of an answer's head, informational answers and trailers included.
    static let headBytesMax = 65_536

    /// The number that a receiver returns to end the transfer; no piece is that long.
    private static let refusedCount = Int(UInt32.max)

    /// libcurl's handle.
    let handle: UnsafeMutableRawPointer

    private let address: WebAddress
    private let bodyRule: ClientRequest.BodyRule
    private var fields: UnsafeMutablePointer<curl_slist>?
    private var headBytes = 0
    private var bodyBytes = 0
    private var body: [UInt8] = []
    /// Whether the head of the final answer is complete.
    private var isAnswered = false
    private var isTooLarge = false

    /// Creates a transfer that has not begun.
    ///
    /// - Throws: `.unacceptableAddress`, or `.unreachable` when libcurl can't be set up.
    init(
        _ request: ClientRequest, within limit: Duration, trustedFile: String? = nil,
        connectsOnly: Bool = false
    ) throws(TransferFault) {
        guard let address = WebAddress(request.url) else { throw .unacceptableAddress }
        guard CurlLibrary.isReady, let made = unsafe curl_easy_init() else { throw .unreachable }
        self.address = address
        bodyRule = request.answerBody
        unsafe handle = made
        guard restrict(to: limit), secure(trustedFile), describe(request), listen(),
            !connectsOnly || set(CURLOPT_CONNECT_ONLY, to: 1)
        else { throw .unreachable }
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(fields)
    }

    /// The result of a transfer that ended with this code.
    func result(_ code: CURLcode) -> Result<ClientAnswer, TransferFault> {
        let fault = isTooLarge ? .tooLarge : Self.fault(code)
        guard isAnswered else { return .failure(fault ?? .broken) }
        let seconds = unsafe ccurl_retry_after(handle)
        return .success(
            ClientAnswer(
                status: status, body: body, cacheControl: field("Cache-Control"),
                retryAfterSeconds: seconds > 0 ? seconds : nil,
                interruption: readsBody ? fault : nil))
    }

    /// The status of the newest answer; 0 before there is one.
    private var status: Int { unsafe ccurl_status(handle) }

    /// Whether the body of the answer at hand is read.
    private var readsBody: Bool {
        switch bodyRule {
        case .kept(_, let statuses): statuses.contains(status)
        case .dropped: true
        }
    }

    private func restrict(to limit: Duration) -> Bool {
        // 0 would mean no limit.
        set(CURLOPT_TIMEOUT_MS, to: max(1, Int(limit / .milliseconds(1))))
            // Signals are for the process to handle: it has many threads and ignores SIGPIPE.
            && set(CURLOPT_NOSIGNAL, to: 1)
            // A silent name server delays nothing once the time is over.
            && set(CURLOPT_QUICK_EXIT, to: 1)
            && set(CURLOPT_FOLLOWLOCATION, to: 0)
            && set(CURLOPT_PROTOCOLS_STR, to: address.scheme)
            && set(CURLOPT_HTTP_VERSION, to: Int(CURL_HTTP_VERSION_1_1))
            && set(CURLOPT_SUPPRESS_CONNECT_HEADERS, to: 1)
            // Otherwise the environment names the proxy: `https_proxy`, `all_proxy`, `no_proxy`.
            && (!address.isLoopback || set(CURLOPT_PROXY, to: ""))
    }

    private func secure(_ trustedFile: String?) -> Bool {
        set(CURLOPT_SSL_VERIFYPEER, to: 1)
            && set(CURLOPT_SSL_VERIFYHOST, to: 2)
            && set(CURLOPT_SSLVERSION, to: Int(CURL_SSLVERSION_TLSv1_2))
            && trustedFile.map { set(CURLOPT_CAINFO, to: $0) } ?? true
    }

    private func describe(_ request: ClientRequest) -> Bool {
        var lines = request.fields.map { "\($0.name): \($0.value)" }
        if let body = request.body {
            // Otherwise a body may be held back until the server has agreed to receive it.
            lines.append("Expect:")
            let code = unsafe body.withUnsafeBytes { bytes in
                unsafe ccurl_set_body(
                    handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
            }
            guard code == CURLE_OK else { return false }
        }
        for line in lines {
            guard let longer = unsafe curl_slist_append(fields, line) else { return false }
            unsafe fields = longer
        }
        return unsafe set(CURLOPT_USERAGENT, to: "account-ledger")
            && ccurl_set_fields(handle, fields) == CURLE_OK
            && ccurl_set_address(handle, address.parts) == CURLE_OK
    }

    /// Registers the receivers: libcurl calls them only while the transfer is under way, which it outlives.
    private func listen() -> Bool {
        unsafe ccurl_set_receivers(
            handle,
            { bytes, size, count, context in
                unsafe Transfer.receive(bytes, size * count, context) { transfer, line in
                    unsafe transfer.receiveLine(line)
                }
            },
            { bytes, size, count, context in
                unsafe Transfer.receive(bytes, size * count, context) { transfer, chunk in
                    unsafe transfer.receiveBody(chunk)
                }
            }, Unmanaged.passUnretained(self).toOpaque()) == CURLE_OK
    }

    /// Passes bytes on; returns how many were accepted, and any other number ends the transfer.
    private static func receive(
        _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
        _ accept: (Transfer, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        guard let context = unsafe context else { return refusedCount }
        let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        let isAccepted = unsafe accept(transfer, UnsafeRawBufferPointer(start: bytes, count: count))
        return isAccepted ? count : refusedCount
    }

    /// Receives one line of the head with its end; the final answer follows the empty line of an
    /// informational one.
    private func receiveLine(_ line: UnsafeRawBufferPointer) -> Bool {
        headBytes += line.count
        guard headBytes <= Self.headBytesMax else {
            isTooLarge = true
            return false
        }
        let isEmpty = unsafe line.allSatisfy { byte in byte == 0x0D || byte == 0x0A }
        guard isEmpty, !(100...199).contains(status) else { return true }
        isAnswered = true
        return readsBody
    }

    private func receiveBody(_ chunk: UnsafeRawBufferPointer) -> Bool {
        bodyBytes += chunk.count
        switch bodyRule {
        case .kept(let bytesMax, _):
            isTooLarge = bodyBytes > bytesMax
            guard isAnswered, !isTooLarge else { return false }
            unsafe body.append(contentsOf: chunk)
            return true
        case .dropped(let bytesMax):
            isTooLarge = bodyBytes > bytesMax
            return !isTooLarge
        }
    }

    /// Joins the values of a field of the final answer, RFC 9110 section 5.3; nil when it is absent.
    private func field(_ name: String) -> String? {
        var values: [String] = []
        var found: UnsafeMutablePointer<curl_header>?
        while unsafe curl_easy_header(
            handle, name, values.count, UInt32(CURLH_HEADER), -1, &found) == CURLHE_OK,
            let header = unsafe found
        {
            values.append(unsafe String(cString: header.pointee.value))
        }
        return values.isEmpty ? nil : values.joined(separator: ",")
    }

    /// Returns the reason why a transfer that ended with this code failed; nil when it did not.
    static func fault(_ code: CURLcode) -> TransferFault? {
        switch code {
        case CURLE_OK: nil
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_INVALIDCERTSTATUS:
            .untrusted
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT:
            .unreachable
        default: .broken
        }
    }

    private func set(_ option: CURLoption, to number: Int) -> Bool {
        unsafe ccurl_set_number(handle, option, number) == CURLE_OK
    }

    private func set(_ option: CURLoption, to text: String) -> Bool {
        unsafe ccurl_set_text(handle, option, text) == CURLE_OK
    }
}

/// The library as a whole.
enum CurlLibrary {
    /// Whether libcurl is initialised, which the first use does.
    static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}
