import CMicroHTTPD

// libmicrohttpd calls these on its own threads; each connection stays with one thread. The first
// argument is always the `ServerCore`, which the daemon's owner keeps alive.

/// Begins an exchange when the request line is read; the daemon stores the returned pointer with the
/// request.
func daemonReadTarget(
    _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ handle: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard
        let core = unsafe ServerCore.of(context), let handle = unsafe handle,
        let target = unsafe target,
        let connection = unsafe ClientConnection.of(cmhd_socket_context(handle))
    else { return nil }
    connection.beginRequest(dueBy: .now + core.limits.requestReceiveTimeMax)
    let exchange = unsafe Exchange(
        target: String(cString: target), connection: connection, handle: handle)
    return unsafe Unmanaged.passRetained(exchange).toOpaque()
}

/// Handles a read header section, each chunk of the body, the end of the request, and a resumption.
func daemonReadRequest(
    _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?, _ path: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?,
    _ body: UnsafePointer<CChar>?, _ bodyCount: UnsafeMutablePointer<Int>?,
    _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard
        let core = unsafe ServerCore.of(context),
        let exchange = unsafe Exchange.of(request?.pointee),
        let message = unsafe IncomingMessage(handle: handle, method: method, version: version),
        let bodyCount = unsafe bodyCount
    else { return .NO }
    switch exchange.stage {
    case .started: return core.begin(exchange, message)
    case .receivingBody:
        guard unsafe bodyCount.pointee > 0 else { return core.dispatch(exchange, message) }
        let bytes = unsafe UnsafeRawBufferPointer(start: body, count: bodyCount.pointee)
        unsafe bodyCount.pointee = 0
        return unsafe core.receiveBody(exchange, bytes)
    case .handling: return core.proceed(exchange, message)
    case .answered:
        unsafe bodyCount.pointee = 0
        return .YES
    }
}

/// Ends an exchange when its response is sent or its connection is closed.
func daemonCompletedRequest(
    _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?,
    _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _: MHD_RequestTerminationCode
) {
    guard
        let core = unsafe ServerCore.of(context), let pointer = unsafe request?.pointee
    else { return }
    unsafe request?.pointee = nil
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue()
    // libmicrohttpd closes silent connections; this deadline is for slowly sent request lines.
    exchange.connection.awaitRequest(
        dueBy: .now + (core.limits.idleTimeMax + core.limits.requestReceiveTimeMax))
    core.end(exchange)
}

/// Registers a `ClientConnection` when a socket is accepted and removes it just before it is closed.
func daemonChangedConnection(
    _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?,
    _ socketContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ change: MHD_ConnectionNotificationCode
) {
    guard
        let core = unsafe ServerCore.of(context), let handle = unsafe handle,
        let socketContext = unsafe socketContext
    else { return }
    switch change {
    case .CONNECTION_NOTIFY_STARTED:
        let address = unsafe cmhd_peer(handle).flatMap { unsafe IPAddress(socketAddress: $0) }
        let connection = unsafe ClientConnection(
            descriptor: cmhd_socket(handle), peerAddress: address?.text ?? "",
            limits: core.limits, deadline: .now + core.limits.firstRequestLineTimeMax)
        core.connections.add(connection)
        if !connection.gate.attach(to: connection.descriptor) { connection.cut() }
        unsafe socketContext.pointee = Unmanaged.passRetained(connection).toOpaque()
    case .CONNECTION_NOTIFY_CLOSED:
        guard let pointer = unsafe socketContext.pointee else { return }
        unsafe socketContext.pointee = nil
        let connection = unsafe Unmanaged<ClientConnection>.fromOpaque(pointer).takeRetainedValue()
        connection.gate.leave(connection.descriptor)
        if connection.mayHaveUnreadBytes { core.lingering.keep(connection.descriptor) }
        core.connections.remove(connection)
    @unknown default:
        return
    }
}

/// Reads the next bytes of a response from a stream.
func daemonReadStream(
    _ context: UnsafeMutableRawPointer?, _: UInt64, _ buffer: UnsafeMutablePointer<CChar>?,
    _ count: Int
) -> Int {
    guard let context = unsafe context, let buffer = unsafe buffer else {
        return cmhd_end_of_stream
    }
    let stream = unsafe Unmanaged<HTTPStream>.fromOpaque(context).takeUnretainedValue()
    return unsafe stream.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: count))
}

/// Releases a stream when its response is sent or its connection is closed.
func daemonFreeStream(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<HTTPStream>.fromOpaque(context).release()
}

extension ServerCore {
    fileprivate static func of(_ pointer: UnsafeMutableRawPointer?) -> ServerCore? {
        unsafe pointer.map { unsafe Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }
}

extension Exchange {
    fileprivate static func of(_ pointer: UnsafeMutableRawPointer?) -> Exchange? {
        unsafe pointer.map { unsafe Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }
}

extension ClientConnection {
    fileprivate static func of(_ pointer: UnsafeMutableRawPointer?) -> ClientConnection? {
        unsafe pointer.map { unsafe Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }
}
