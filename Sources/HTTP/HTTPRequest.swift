/// A completely received request.
///
/// A class, because it is passed through many functions and a copy would retain eight references.
package final class HTTPRequest: Sendable {
    /// The method as sent, for example `GET`; methods are case-sensitive, RFC 9110 section 9.1.
    package let method: String
    /// The request target exactly as in the request line.
    package let target: String
    /// The path of the target, still percent-encoded, without the query.
    package let path: String
    /// The pairs of the query in order, percent-decoded once; plus signs are unchanged.
    package let query: [(name: String, value: String)]
    /// The header fields, without the trailers of a chunked body.
    package let headers: HTTPHeaders
    /// The body, at most as long as the server's limit.
    package let body: [UInt8]
    /// The numeric IP address of the TCP peer; an IPv4-mapped IPv6 address appears as IPv4.
    package let peerAddress: String

    /// Creates a request; nil when the server would answer the target as malformed.
    package convenience init?(
        method: String, target: String, headers: HTTPHeaders = [:], body: [UInt8] = [],
        peerAddress: String = "127.0.0.1"
    ) {
        guard let parts = RequestTarget(target) else { return nil }
        self.init(
            method: method, target: target, parts: parts, headers: headers, body: body,
            peerAddress: peerAddress)
    }

    init(
        method: String, target: String, parts: RequestTarget, headers: HTTPHeaders, body: [UInt8],
        peerAddress: String
    ) {
        self.method = method
        self.target = target
        self.path = parts.path
        self.query = parts.query
        self.headers = headers
        self.body = body
        self.peerAddress = peerAddress
    }
}
