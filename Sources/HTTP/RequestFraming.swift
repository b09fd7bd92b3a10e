/// Where a body ends, as the header fields say, and what makes them untrustworthy.
///
/// A reverse proxy and this server must agree on where a request ends, or a client can smuggle a
/// request past the proxy, RFC 9112 section 11.2. So whatever two readers could read differently is
/// refused.
struct RequestFraming {
    /// The announced length of the body; nil for a chunked one.
    let contentLength: Int?

    init(
        of headers: HTTPHeaders, isHTTP11: Bool, limits: HTTPServerLimits
    ) throws(HTTPRejection) {
        guard headers.count <= limits.headerCountMax else { throw .headersTooLarge }
        let hosts = headers.count(of: "Host")
        guard headers.areWellFormed, hosts == 1 || (hosts == 0 && !isHTTP11) else {
            throw .malformed
        }
        // RFC 9110 section 10.1.1: an HTTP/1.0 client can't expect anything.
        let canBeMet = headers.all("Expect").allSatisfy { expectation in
            ASCII.equalIgnoringCase(ASCII.trimmed(expectation[...]).utf8, "100-continue".utf8)
        }
        guard canBeMet || !isHTTP11 else { throw .expectationUnknown }
        let codings = headers.all("Transfer-Encoding")
        let lengths = headers.all("Content-Length")
        guard codings.isEmpty else {
            let isChunked =
                codings.count == 1 && ASCII.equalIgnoringCase(codings[0].utf8, "chunked".utf8)
            guard isChunked, lengths.isEmpty, isHTTP11 else { throw .malformed }
            contentLength = nil
            return
        }
        guard let text = lengths.first else {
            contentLength = 0
            return
        }
        guard
            lengths.count == 1, !text.isEmpty,
            text.utf8.allSatisfy({ $0 >= ASCII.zero && $0 <= ASCII.nine })
        else { throw .malformed }
        guard let length = Int(text), length <= limits.bodyBytesMax else {
            throw .bodyTooLarge
        }
        contentLength = length
    }
}
