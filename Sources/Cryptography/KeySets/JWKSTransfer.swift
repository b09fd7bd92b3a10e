internal import CCurl

/// One transfer of a key set over libcurl; owns its handle, and the connection with it.
@safe final class JWKSTransfer {
    /// Largest head of an answer, informational answers and trailers included, in bytes.
    static let headBytesMax = 65_536

    /// What a receiver returns to end the transfer; no piece is ever that long.
    private static let refusedCount = Int(UInt32.max)

    /// libcurl is made ready once, by whoever is first.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    private let address: WebAddress
    private let handle: UnsafeMutableRawPointer
    private var fields: UnsafeMutablePointer<curl_slist>?

    private var headBytes = 0
    private var isAccepted = false
    private var body: [UInt8] = []
    private var fault: JWKSFetchFault?

    /// Makes a transfer that has not begun.
    ///
    /// - Parameters:
    ///   - url: What to fetch.
    ///   - limit: Longest time the transfer may take.
    ///   - trustedFile: Certificates to trust, as PEM; nil for those the system trusts.
    /// - Throws: `.unacceptableAddress`, or `.unreachable` when libcurl can't be set up.
    init(url: String, limit: Duration, trustedFile: String?) throws(JWKSFetchFault) {
        guard let address = WebAddress(url) else {
            throw .unacceptableAddress
        }
        guard JWKSTransfer.isReady, let made = unsafe curl_easy_init() else {
            throw .unreachable
        }
        self.address = address
        unsafe handle = made
        try restrict(to: limit)
        try secure(trustedFile)
        try describeRequest()
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(fields)
    }

    /// Runs the transfer and blocks until it has ended; to be called once.
    func run() throws(JWKSFetchFault) -> FetchedKeySet {
        let code = unsafe curl_easy_perform(handle)
        if let fault {
            throw fault
        }
        guard code == CURLE_OK else {
            throw code == CURLE_OPERATION_TIMEDOUT ? .timedOut : .unreachable
        }
        // libcurl is content with an answer that ends in the middle of its headers.
        guard isAccepted else {
            throw .unreachable
        }
        return FetchedKeySet(
            body: body, maxAgeSeconds: CacheControl.maxAgeSeconds(field("Cache-Control")))
    }

    private func restrict(to limit: Duration) throws(JWKSFetchFault) {
        // 0 would mean no limit.
        let milliseconds = max(1, Int(limit / .milliseconds(1)))
        try set(CURLOPT_TIMEOUT_MS, to: milliseconds)
        // Signals are for the process to handle: it has many threads and ignores SIGPIPE.
        try set(CURLOPT_NOSIGNAL, to: 1)
        try set(CURLOPT_FOLLOWLOCATION, to: 0)
        try set(CURLOPT_PROTOCOLS_STR, to: address.scheme)
        try set(CURLOPT_HTTP_VERSION, to: Int(CURL_HTTP_VERSION_1_1))
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, to: 1)
        if address.isOfThisMachine {
            // Otherwise the environment names the proxy: `https_proxy`, `all_proxy`, `no_proxy`.
            try set(CURLOPT_PROXY, to: "")
        }
    }

    private func secure(_ trustedFile: String?) throws(JWKSFetchFault) {
        try set(CURLOPT_SSL_VERIFYPEER, to: 1)
        try set(CURLOPT_SSL_VERIFYHOST, to: 2)
        try set(CURLOPT_SSLVERSION, to: Int(CURL_SSLVERSION_TLSv1_2))
        if let trustedFile {
            try set(CURLOPT_CAINFO, to: trustedFile)
        }
    }

    private func describeRequest() throws(JWKSFetchFault) {
        unsafe fields = curl_slist_append(nil, "Accept: application/json")
        try set(CURLOPT_USERAGENT, to: "account-ledger")
        guard
            unsafe fields != nil,
            unsafe ccurl_set_fields(handle, fields) == CURLE_OK,
            unsafe ccurl_set_address(handle, address.parts) == CURLE_OK
        else {
            throw .unreachable
        }
        // The transfer outlives its run, and libcurl calls back only during it.
        let code = unsafe ccurl_set_receivers(
            handle,
            { bytes, size, count, context in
                unsafe JWKSTransfer.receive(bytes, size * count, context) { transfer, line in
                    unsafe transfer.takeLine(line)
                }
            },
            { bytes, size, count, context in
                unsafe JWKSTransfer.receive(bytes, size * count, context) { transfer, piece in
                    unsafe transfer.takePiece(piece)
                }
            }, Unmanaged.passUnretained(self).toOpaque())
        guard code == CURLE_OK else {
            throw .unreachable
        }
    }

    /// Hands bytes on; returns how many were taken, and any other number ends the transfer.
    private static func receive(
        _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
        _ take: (JWKSTransfer, UnsafeRawBufferPointer) -> JWKSFetchFault?
    ) -> Int {
        guard let context = unsafe context else {
            return refusedCount
        }
        let transfer = unsafe Unmanaged<JWKSTransfer>.fromOpaque(context).takeUnretainedValue()
        transfer.fault = unsafe take(transfer, UnsafeRawBufferPointer(start: bytes, count: count))
        return transfer.fault == nil ? count : refusedCount
    }

    /// Takes one line of the head with its end; the empty line decides on the answer.
    private func takeLine(_ line: UnsafeRawBufferPointer) -> JWKSFetchFault? {
        headBytes += line.count
        guard headBytes <= JWKSTransfer.headBytesMax else {
            return .tooLarge
        }
        let isEmpty = unsafe line.allSatisfy { byte in byte == 0x0D || byte == 0x0A }
        let status = unsafe ccurl_status(handle)
        // After an informational answer the real one follows.
        guard isEmpty, !(100...199).contains(status) else {
            return nil
        }
        isAccepted = status == 200
        return isAccepted ? nil : .refusedStatus
    }

    private func takePiece(_ piece: UnsafeRawBufferPointer) -> JWKSFetchFault? {
        guard isAccepted else {
            return .refusedStatus
        }
        guard body.count + piece.count <= KeySet.documentBytesMax else {
            return .tooLarge
        }
        unsafe body.append(contentsOf: piece)
        return nil
    }

    /// Joins the values of a header of the final answer, RFC 9110 section 5.3; nil when it has none.
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

    private func set(_ option: CURLoption, to number: Int) throws(JWKSFetchFault) {
        guard unsafe ccurl_set_number(handle, option, number) == CURLE_OK else {
            throw .unreachable
        }
    }

    private func set(_ option: CURLoption, to text: String) throws(JWKSFetchFault) {
        guard unsafe ccurl_set_text(handle, option, text) == CURLE_OK else {
            throw .unreachable
        }
    }
}
