internal import CCurl

/// The transfer of a key set, with its own connection.
final class JWKSTransfer: AnswerReceiver {
    private let transfer: OutgoingTransfer
    private var isAccepted = false
    private var body: [UInt8] = []
    private var fault: JWKSFetchFault?

    /// Makes a transfer without starting it.
    ///
    /// - Parameters:
    ///   - url: The URL to fetch.
    ///   - limit: Longest time the transfer may take.
    ///   - trustedFile: Trusted certificates as PEM; nil for those of the system.
    /// - Throws: `.unacceptableAddress`, or `.unreachable` when libcurl can't be set up.
    init(url: String, limit: Duration, trustedFile: String?) throws(JWKSFetchFault) {
        guard let address = WebAddress(url) else { throw .unacceptableAddress }
        guard
            let transfer = OutgoingTransfer(
                to: address, fields: ["Accept: application/json"], within: limit,
                trustedFile: trustedFile)
        else { throw .unreachable }
        self.transfer = transfer
        transfer.receiver = self
    }

    /// Runs the transfer and blocks until its end; may be called once.
    func run() throws(JWKSFetchFault) -> FetchedKeySet {
        let code = unsafe curl_easy_perform(transfer.handle)
        if transfer.isHeadTooLarge { throw .tooLarge }
        if let fault { throw fault }
        guard code == CURLE_OK else {
            throw code == CURLE_OPERATION_TIMEDOUT ? .timedOut : .unreachable
        }
        // libcurl accepts a response that ends within its headers.
        guard isAccepted else { throw .unreachable }
        return FetchedKeySet(
            body: body, maxAgeSeconds: CacheControl.maxAgeSeconds(field("Cache-Control")))
    }

    func takeStatus(_ status: Int) -> Bool {
        isAccepted = status == 200
        if !isAccepted { fault = .refusedStatus }
        return isAccepted
    }

    func takePiece(_ piece: UnsafeRawBufferPointer) -> Bool {
        guard isAccepted else {
            fault = .refusedStatus
            return false
        }
        guard body.count + piece.count <= KeySet.documentBytesMax else {
            fault = .tooLarge
            return false
        }
        unsafe body.append(contentsOf: piece)
        return true
    }

    /// Joins the values of a header of the final response, RFC 9110 section 5.3; nil when it is absent.
    private func field(_ name: String) -> String? {
        var values: [String] = []
        var found: UnsafeMutablePointer<curl_header>?
        while unsafe curl_easy_header(
            transfer.handle, name, values.count, UInt32(CURLH_HEADER), -1, &found) == CURLHE_OK,
            let header = unsafe found
        {
            values.append(unsafe String(cString: header.pointee.value))
        }
        return values.isEmpty ? nil : values.joined(separator: ",")
    }
}
