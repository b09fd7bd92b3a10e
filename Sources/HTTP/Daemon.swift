import CMicroHTTPD
import Glibc

/// A running libmicrohttpd daemon; it stops with its owner.
// Protected by libmicrohttpd's own locks: any thread may quiesce a daemon or stop it.
@safe struct Daemon: ~Copyable, @unchecked Sendable {
    private let handle: OpaquePointer
    private let context: Unmanaged<ServerCore>
    private var quiescedDescriptor: Int32 = -1

    init(core: ServerCore, socket: consuming ListenSocket) throws(HTTPServerError) {
        let context = unsafe Unmanaged.passRetained(core)
        let limits = core.limits
        let descriptor = socket.release()
        var settings = unsafe cmhd_settings(
            listen_fd: descriptor,
            // A pool of one is no pool to libmicrohttpd: 0 stands for one thread.
            threads: limits.threads > 1 ? UInt32(limits.threads) : 0,
            connections_max: UInt32(limits.connectionsMax),
            idle_seconds_max: limits.idleSecondsMax,
            connection_memory_bytes: limits.connectionMemoryBytes,
            context: context.toOpaque(),
            on_target: daemonReadTarget,
            on_request: daemonReadRequest,
            on_completed: daemonCompletedRequest,
            on_connection: daemonChangedConnection)
        guard let handle = unsafe cmhd_start(&settings) else {
            let code = errno
            close(descriptor)
            unsafe context.release()
            throw .failed(call: "MHD_start_daemon", code: code)
        }
        unsafe self.handle = handle
        unsafe self.context = context
    }

    /// Blocks until the daemon's threads have ended; no connection may be suspended.
    deinit {
        unsafe MHD_stop_daemon(handle)
        if quiescedDescriptor >= 0 { close(quiescedDescriptor) }
        unsafe context.release()
    }

    /// Accepts no more connections: the system refuses new ones, open ones live on.
    mutating func quiesce() {
        guard quiescedDescriptor < 0 else { return }
        // The daemon's threads may still look at the socket, so it is closed only after they have
        // ended; shutting it down is what makes the system refuse.
        quiescedDescriptor = unsafe MHD_quiesce_daemon(handle)
        if quiescedDescriptor >= 0 { shutdown(quiescedDescriptor, Int32(SHUT_RDWR)) }
    }

    /// Leaves the daemon running for ever, when stopping it would stop the program.
    consuming func leak() {
        discard self
    }
}
