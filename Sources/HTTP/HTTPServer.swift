/// An HTTP/1.1 server on one address.
///
/// libmicrohttpd's threads serve the connections. A completely received request is passed to the
/// handler in its own task, which runs on the connection's thread; while the task is suspended, the
/// connection waits without a thread. So a handler may wait as long as necessary, but must not compute
/// or block for long: other connections share the thread.
///
/// Of a malformed request libmicrohttpd reads only the part before the error, see `RequestScanner`, so
/// that the owner renders every response.
///
/// A disconnected client is noticed when the response is sent: the handler always runs to its end.
package final class HTTPServer: Sendable {
    /// The listening port; chosen by the system when 0 was requested.
    package let port: UInt16
    private let running: RunningServer
    private let bodies: BodyBudget

    /// The memory used by large bodies, in bytes.
    package var largeBodyBytesHeld: Int { bodies.bytesHeld }

    /// Binds and starts.
    ///
    /// - Parameters:
    ///   - host: A numeric address; `::` accepts IPv4 as well.
    ///   - port: The port, 0 for any.
    ///   - limits: The limits.
    ///   - reject: Renders the responses without the handler, from the reason and the header fields,
    ///     which may break any rule; called on any thread.
    ///   - handler: Answers a request.
    /// - Throws: `HTTPServerError`.
    package init(
        host: String, port: UInt16, limits: HTTPServerLimits,
        reject: @escaping @Sendable (HTTPRejection, HTTPHeaders) -> HTTPResponse,
        handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) throws(HTTPServerError) {
        let socket = try ListenSocket(host: host, port: port)
        self.port = socket.port
        let core = ServerCore(limits: limits, reject: reject, handler: handler)
        bodies = core.bodies
        running = try RunningServer(core: core, socket: socket)
    }

    /// Stops a server immediately that was not stopped.
    deinit {
        let running = running
        Task { await running.stop(grace: .zero) }
    }

    /// Stops gracefully.
    ///
    /// New connections are refused immediately. Received requests, and those whose body is being
    /// received, are answered with `Connection: close` until the grace time is over; then their tasks
    /// are cancelled and the rest is answered as overloaded. Returns when every connection is closed.
    /// Further calls wait for the end of the first.
    package func stop(grace: Duration) async {
        await running.stop(grace: grace)
    }
}
