/// An answer to one request.
///
/// The server adds `Content-Length`, `Date` and `Connection`, sends no body to a HEAD request, and
/// drops fields that would contradict it: `Content-Length`, `Transfer-Encoding`, and any whose name
/// is not a token. A CR, LF or NUL in a value is sent as a space, so that a value can't split the
/// response.
package struct HTTPResponse: Sendable {
    /// The status code, 200 to 599; any other is answered as an internal failure.
    package var status: Int
    /// The header fields in order; a field with an empty value is left out.
    package var headers: [(name: String, value: String)]
    /// The body; not sent with 204 and 304, which can have none.
    package var body: [UInt8]
    /// Makes the rest of the body while it is sent; nil for an answer that is all there.
    ///
    /// Runs as a task of its own, which is cancelled when the client is gone or the server stops. It is
    /// never called for HEAD.
    package var stream: (@Sendable (HTTPStream) async -> Void)?

    /// Makes an answer.
    package init(
        status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []
    ) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Makes an answer whose body is made while it is sent.
    package init(
        status: Int, headers: [(name: String, value: String)],
        stream: @escaping @Sendable (HTTPStream) async -> Void
    ) {
        self.init(status: status, headers: headers)
        self.stream = stream
    }
}
