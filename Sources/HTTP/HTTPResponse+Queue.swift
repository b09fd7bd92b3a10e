import CMicroHTTPD

extension HTTPResponse {
    private static let statuses = 200...599
    /// Bytes of a stream that the daemon reads at a time.
    private static let streamBlockBytes = 8_192

    /// Whether the status is a final one.
    var isSendable: Bool { Self.statuses.contains(status) }

    /// Passes a copy of the response to the daemon, with the stream of its body, if any.
    ///
    /// - Returns: `.NO`, which closes the connection, when the daemon refuses it.
    func queue(
        on connection: OpaquePointer, closing: Bool, streaming stream: HTTPStream?
    ) -> MHD_Result {
        let made = unsafe stream.map { unsafe Self.make(streaming: $0) } ?? makeWhole()
        guard let response = unsafe made else { return .NO }
        defer { unsafe MHD_destroy_response(response) }
        for (name, value) in headers where Self.mayBeSet(name) {
            // The daemon refuses fields that it can't send, such as an empty value; they are left
            // out.
            _ = unsafe MHD_add_response_header(response, name, Self.neutralised(value))
        }
        if closing { _ = unsafe MHD_add_response_header(response, "Connection", "close") }
        return unsafe MHD_queue_response(connection, UInt32(status), response)
    }

    private func makeWhole() -> OpaquePointer? {
        // The daemon copies the bytes, although its parameter is not const; with 304 it sends only their length.
        unsafe body.withUnsafeBytes { bytes in
            unsafe MHD_create_response_from_buffer(
                status == 204 ? 0 : bytes.count,
                UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
        }
    }

    /// Creates a streamed response; the daemon retains the stream until it has destroyed the response.
    private static func make(streaming stream: HTTPStream) -> OpaquePointer? {
        let context = unsafe Unmanaged.passRetained(stream)
        let made = unsafe MHD_create_response_from_callback(
            UInt64.max, streamBlockBytes, daemonReadStream, context.toOpaque(), daemonFreeStream)
        if unsafe made == nil { unsafe context.release() }
        return unsafe made
    }

    /// Checks a field name: false for the server's own fields, and for names that are not tokens.
    private static func mayBeSet(_ name: String) -> Bool {
        for own in ["Content-Length", "Transfer-Encoding", "Connection", "Date"]
        where ASCII.equalIgnoringCase(name.utf8, own.utf8) {
            return false
        }
        return ASCII.isToken(name.utf8.span)
    }

    /// Returns a value with control characters replaced by spaces, RFC 9110 section 5.5.
    private static func neutralised(_ value: String) -> String {
        func isControl(_ byte: UInt8) -> Bool { byte < ASCII.space || byte == ASCII.delete }
        guard value.utf8.contains(where: isControl) else { return value }
        return String(
            decoding: value.utf8.map { isControl($0) ? ASCII.space : $0 }, as: UTF8.self)
    }
}
