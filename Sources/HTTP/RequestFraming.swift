/// The end of a body, from the fields of a well-formed header section.
///
/// Chunked bodies are refused: libmicrohttpd accepts chunks in forms that a proxy may interpret
/// differently, and the bodies of this API are short enough to have a known length.
struct RequestFraming {
    /// The announced length of the body.
    let contentLength: Int

    init(
        of headers: HTTPHeaders, isHTTP11: Bool, limits: HTTPServerLimits
    ) throws(HTTPRejection) {
        guard headers.count(of: "Transfer-Encoding") == 0 else { throw .lengthRequired }
        let hosts = headers.all("Host")
        guard hosts.count == 1 || (hosts.isEmpty && !isHTTP11),
            hosts.allSatisfy({ ASCII.trimmed($0[...]).utf8.allSatisfy(ASCII.isHostCharacter) })
        else { throw .malformed }
        let length = headers["Content-Length"].map { Int($0) ?? .max }
        contentLength = length ?? 0
        // RFC 9110 section 10.1.1: an HTTP/1.0 client can't expect anything, and others only of a request with a
        // body. Of one without, libmicrohttpd takes what comes behind it for the body, and answers nothing.
        let canBeMet = headers.all("Expect").allSatisfy { expectation in
            contentLength > 0
                && ASCII.equalIgnoringCase(
                    ASCII.trimmed(expectation[...]).utf8, "100-continue".utf8)
        }
        guard canBeMet || !isHTTP11 else { throw .expectationUnknown }
        guard contentLength <= limits.bodyBytesMax else { throw .bodyTooLarge }
    }
}
