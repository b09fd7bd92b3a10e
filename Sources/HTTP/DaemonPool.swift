import CMicroHTTPD
import Glibc

/// A running libmicrohttpd: an acceptor that assigns connections in turn to daemons of one thread each.
///
/// It stops with its owner. A daemon with its own thread pool would distribute connections badly: of the
/// threads waiting for a socket the system wakes the one that began last, so that most of many
/// simultaneous connections stay with one thread. Assigned in turn, a connection waits for its own thread
/// even when another one is free; so handlers must not block.
// Protected by libmicrohttpd's own locks: any thread may add connections to a daemon or stop it.
@safe struct DaemonPool: ~Copyable, @unchecked Sendable {
    private let daemons: [OpaquePointer]
    private let context: Unmanaged<ServerCore>
    private let acceptor: Acceptor
    private var isLeaked = false

    init(core: ServerCore, socket: consuming ListenSocket) throws(HTTPServerError) {
        let context = unsafe Unmanaged.passRetained(core)
        do throws(HTTPServerError) {
            unsafe daemons = try Self.start(core.limits, context: context.toOpaque())
        } catch {
            unsafe context.release()
            throw error
        }
        unsafe self.context = context
        // Protected by libmicrohttpd's own locks; the acceptor stops before the daemons do.
        nonisolated(unsafe) let daemons = unsafe daemons
        acceptor = Acceptor(socket: socket, registry: core.connections) { accepted, number in
            unsafe withUnsafePointer(to: accepted.peer) { peer in
                unsafe cmhd_serve(
                    daemons[number % daemons.count], accepted.descriptor, peer, accepted.peerLength)
            }
        }
    }

    /// Blocks until the daemons' threads have ended; no connection may be suspended.
    deinit {
        acceptor.stop()
        if isLeaked { return }
        unsafe daemons.forEach { unsafe MHD_stop_daemon($0) }
        unsafe context.release()
    }

    /// Stops accepting connections: the system refuses new ones, open ones stay.
    func quiesce() {
        acceptor.stop()
    }

    /// Leaves the daemons running for ever, when stopping them would abort the program.
    consuming func leak() {
        isLeaked = true
    }

    private static func start(
        _ limits: HTTPServerLimits, context: UnsafeMutableRawPointer
    ) throws(HTTPServerError) -> [OpaquePointer] {
        var settings = unsafe cmhd_settings(
            // The registry limits the connections; this limit must never be the lower one.
            connections_max: UInt32(clamping: limits.connectionsMax + 1),
            idle_seconds_max: limits.idleSecondsMax,
            connection_memory_bytes: limits.connectionMemoryBytes,
            context: context,
            on_target: daemonReadTarget,
            on_request: daemonReadRequest,
            on_completed: daemonCompletedRequest,
            on_connection: daemonChangedConnection)
        var daemons: [OpaquePointer] = unsafe []
        for _ in 0..<max(1, limits.threads) {
            guard let daemon = unsafe cmhd_start(&settings) else {
                let code = errno
                unsafe daemons.forEach { unsafe MHD_stop_daemon($0) }
                throw .failed(call: "MHD_start_daemon", code: code)
            }
            unsafe daemons.append(daemon)
        }
        return unsafe daemons
    }
}
