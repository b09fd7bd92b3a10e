internal import CCurl

/// One transfer of a key set, and the connection with it.
final class JWKSTransfer: AnswerReceiver {
    private let transfer: OutgoingTransfer
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
        guard let address = WebAddress(url) else { throw .unacceptableAddress }
        guard
            let transfer = OutgoingTransfer(
                to: address, fields: ["Accept: application/json"], within: limit,
                trustedFile: trustedFile)
        else { throw .unreachable }
        self.transfer = transfer
        transfer.receiver = self
    }

    /// Runs the transfer and blocks until it has ended; to be called once.
    func run() throws(JWKSFetchFault) -> FetchedKeySet {
        let code = unsafe curl_easy_perform(transfer.handle)
        if transfer.isHeadTooLarge { throw .tooLarge }
        if let fault { throw fault }
        guard code == CURLE_OK else {
            throw code == CURLE_OPERATION_TIMEDOUT ? .timedOut : .unreachable
        }
        // libcurl is content with an answer that ends in the middle of its headers.
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

    /// Joins the values of a header of the final answer, RFC 9110 section 5.3; nil when it has none.
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
