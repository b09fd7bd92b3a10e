/// A server for HTTP/1.1 on one address.
///
/// Connections are served by libmicrohttpd's threads. A request that was received whole is given to
/// the handler in a task of its own, which runs on the connection's thread; while the task is
/// suspended, the connection waits without a thread. So a handler may wait as long as it likes, but
/// should not compute or block for long: other connections share the thread.
///
/// Of a request that is not well-formed libmicrohttpd reads only the part before what is wrong: see
/// `RequestScanner`. So every answer is one that the owner rendered.
///
/// A client that goes away is noticed when the answer is sent: the handler always runs to its end.
package final class HTTPServer: Sendable {
    /// The port that is listened on; the one that the system chose when 0 was asked for.
    package let port: UInt16
    private let running: RunningServer
    private let bodies: BodyBudget

    /// The memory that large bodies take now, in bytes.
    package var largeBodyBytesHeld: Int { bodies.bytesHeld }

    /// Binds and starts.
    ///
    /// - Parameters:
    ///   - host: A numeric address; `::` takes IPv4 as well.
    ///   - port: The port, 0 for any.
    ///   - limits: The most that is taken.
    ///   - reject: Renders what the server answers without the handler, from why and from the header
    ///     fields, which may break any rule; called on any thread.
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

    /// A server that was not stopped stops at once.
    deinit {
        let running = running
        Task { await running.stop(grace: .zero) }
    }

    /// Stops gracefully.
    ///
    /// New connections are refused at once. Requests that were received whole, and those whose body
    /// is on its way, are answered, with `Connection: close`, until the grace time is over; then
    /// their tasks are cancelled and the rest is answered as overloaded. Returns when every
    /// connection is closed. Calling it again waits for the first call's end.
    package func stop(grace: Duration) async {
        await running.stop(grace: grace)
    }
}
