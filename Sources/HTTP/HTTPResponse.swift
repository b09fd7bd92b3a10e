/// A response to a request.
///
/// The server adds `Content-Length`, `Date` and `Connection`, sends no body for HEAD, and drops
/// conflicting fields: `Content-Length`, `Transfer-Encoding`, and any whose name
/// is not a token. A CR, LF or NUL in a value is sent as a space, so that a value can't split the
/// response.
package struct HTTPResponse: Sendable {
    /// The status code, 200 to 599; any other becomes an internal failure.
    package var status: Int
    /// The header fields in order; a field with an empty value is left out.
    package var headers: [(name: String, value: String)]
    /// The body; not sent with 204, nor with 304, which has only its length.
    package var body: [UInt8]
    /// Produces the rest of the body while it is sent; nil for a complete response.
    ///
    /// Runs in its own task, which is cancelled when the client disconnects or the server stops. It is
    /// never called for HEAD.
    package var stream: (@Sendable (HTTPStream) async -> Void)?
    /// Whether a stream that the stop of the server ends is complete; the connection of any other is closed without
    /// the end of the body.
    package var mayEndEarly = false

    /// Creates a response.
    package init(
        status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []
    ) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Creates a response whose body is produced while it is sent.
    package init(
        status: Int, headers: [(name: String, value: String)], mayEndEarly: Bool = false,
        stream: @escaping @Sendable (HTTPStream) async -> Void
    ) {
        self.init(status: status, headers: headers)
        self.stream = stream
        self.mayEndEarly = mayEndEarly
    }
}
