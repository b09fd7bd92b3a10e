internal import CCurl

/// The receiver of a transfer's response; a returned false ends the transfer.
protocol AnswerReceiver: AnyObject {
    /// Receives the status of the final response at the end of its head.
    func takeStatus(_ status: Int) -> Bool
    /// Receives a chunk of a response body.
    func takePiece(_ piece: UnsafeRawBufferPointer) -> Bool
}

/// An outgoing HTTP request over libcurl; owns its handle.
///
/// Certificates are checked, redirects are not followed, and only the parsed URL is requested. Time and
/// the head of the response are limited; the receiver limits the body.
@safe final class OutgoingTransfer {
    /// Most bytes of a response head, including informational responses and trailers.
    static let headBytesMax = 65_536

    /// The value that a callback returns to end the transfer; no chunk is that long.
    private static let refusedCount = Int(UInt32.max)

    /// The one-time initialization of libcurl.
    static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    let handle: UnsafeMutableRawPointer
    /// The receiver of the response; set before the transfer begins.
    weak var receiver: (any AnswerReceiver)?
    /// Whether the transfer was ended because the response head was too large.
    private(set) var isHeadTooLarge = false

    private let address: WebAddress
    private var fields: UnsafeMutablePointer<curl_slist>?
    private var headBytes = 0

    /// Makes a transfer without starting it; nil when libcurl can't be set up.
    ///
    /// - Parameters:
    ///   - address: The URL to request.
    ///   - lines: Header fields as `Name: value`.
    ///   - limit: Longest time the transfer may take.
    ///   - trustedFile: Trusted certificates as PEM; nil for those of the system.
    init?(
        to address: consuming WebAddress, fields lines: [String], within limit: Duration,
        trustedFile: String?
    ) {
        guard Self.isReady, let made = unsafe curl_easy_init() else { return nil }
        self.address = address
        unsafe handle = made
        guard restrict(to: limit), secure(trustedFile), describe(lines), listen() else {
            return nil
        }
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(fields)
    }

    /// The status of the latest response; 0 before the first.
    var status: Int { unsafe ccurl_status(handle) }

    private func restrict(to limit: Duration) -> Bool {
        // 0 would mean no limit.
        set(CURLOPT_TIMEOUT_MS, to: max(1, Int(limit / .milliseconds(1))))
            // The process itself handles signals: it has many threads and ignores SIGPIPE.
            && set(CURLOPT_NOSIGNAL, to: 1)
            // An unresponsive name server does not delay the end after a timeout.
            && set(CURLOPT_QUICK_EXIT, to: 1)
            && set(CURLOPT_FOLLOWLOCATION, to: 0)
            && set(CURLOPT_PROTOCOLS_STR, to: address.scheme)
            && set(CURLOPT_HTTP_VERSION, to: Int(CURL_HTTP_VERSION_1_1))
            && set(CURLOPT_SUPPRESS_CONNECT_HEADERS, to: 1)
            // Otherwise the environment names the proxy: `https_proxy`, `all_proxy`, `no_proxy`.
            && (!address.isOfThisMachine || set(CURLOPT_PROXY, to: ""))
    }

    private func secure(_ trustedFile: String?) -> Bool {
        set(CURLOPT_SSL_VERIFYPEER, to: 1)
            && set(CURLOPT_SSL_VERIFYHOST, to: 2)
            && set(CURLOPT_SSLVERSION, to: Int(CURL_SSLVERSION_TLSv1_2))
            && trustedFile.map { set(CURLOPT_CAINFO, to: $0) } ?? true
    }

    private func describe(_ lines: [String]) -> Bool {
        for line in lines {
            guard let longer = unsafe curl_slist_append(fields, line) else { return false }
            unsafe fields = longer
        }
        return unsafe set(CURLOPT_USERAGENT, to: "account-ledger")
            && ccurl_set_fields(handle, fields) == CURLE_OK
            && ccurl_set_address(handle, address.parts) == CURLE_OK
    }

    /// Sets the callbacks, which libcurl calls only while the transfer runs and this object exists.
    private func listen() -> Bool {
        unsafe ccurl_set_receivers(
            handle,
            { bytes, size, count, context in
                unsafe OutgoingTransfer.receive(bytes, size * count, context) { transfer, line in
                    unsafe transfer.takeLine(line)
                }
            },
            { bytes, size, count, context in
                unsafe OutgoingTransfer.receive(bytes, size * count, context) { transfer, piece in
                    unsafe transfer.receiver?.takePiece(piece) ?? false
                }
            }, Unmanaged.passUnretained(self).toOpaque()) == CURLE_OK
    }

    /// Passes bytes on and returns their number; any other number ends the transfer.
    private static func receive(
        _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
        _ take: (OutgoingTransfer, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        guard let context = unsafe context else { return refusedCount }
        let transfer = unsafe Unmanaged<OutgoingTransfer>.fromOpaque(context).takeUnretainedValue()
        let isTaken = unsafe take(transfer, UnsafeRawBufferPointer(start: bytes, count: count))
        return isTaken ? count : refusedCount
    }

    /// Receives a line of the head with its line end; the final response follows after the empty line of an
    /// informational one.
    private func takeLine(_ line: UnsafeRawBufferPointer) -> Bool {
        headBytes += line.count
        guard headBytes <= Self.headBytesMax else {
            isHeadTooLarge = true
            return false
        }
        let isEmpty = unsafe line.allSatisfy { byte in byte == 0x0D || byte == 0x0A }
        let status = status
        guard isEmpty, !(100...199).contains(status) else { return true }
        return receiver?.takeStatus(status) ?? false
    }

    private func set(_ option: CURLoption, to number: Int) -> Bool {
        unsafe ccurl_set_number(handle, option, number) == CURLE_OK
    }

    private func set(_ option: CURLoption, to text: String) -> Bool {
        unsafe ccurl_set_text(handle, option, text) == CURLE_OK
    }
}
