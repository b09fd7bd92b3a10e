import Dispatch
import Glibc

/// Accepts connections on its own thread, as soon as there is capacity.
final class Acceptor: Sendable {
    /// The pause after the system has run out of descriptors or memory.
    private static let restMicroseconds: UInt32 = 20_000

    private let socket: ListenSocket
    private let registry: ConnectionRegistry
    private let thread = DispatchQueue(label: "HTTP acceptor")

    /// Starts accepting.
    ///
    /// - Parameters:
    ///   - socket: The listening socket.
    ///   - registry: Limits the number of connections.
    ///   - serve: Serves a connection, given its number from 0; false when it has closed the connection
    ///     instead.
    init(
        socket: consuming ListenSocket, registry: ConnectionRegistry,
        serve: @escaping @Sendable (AcceptedSocket, Int) -> Bool
    ) {
        self.socket = socket
        self.registry = registry
        thread.async { self.run(serve) }
    }

    /// Stops accepting, so that the system refuses new connections; returns when the last one is handled.
    func stop() {
        // In this order: a thread woken by the second call sees the effect of the first.
        registry.close()
        socket.shutDown()
        thread.sync {}
    }

    private func run(_ serve: (AcceptedSocket, Int) -> Bool) {
        var number = 0
        while true {
            socket.waitForConnection()
            guard registry.acquireSlot() else { return }
            if let accepted = AcceptedSocket(from: socket) {
                if serve(accepted, number) {
                    number &+= 1
                    continue
                }
            } else if ![ECONNABORTED, EAGAIN, EINTR].contains(errno) {
                // Unless the client has disconnected, an immediate retry would fail too.
                usleep(Self.restMicroseconds)
            }
            registry.releaseSlot()
        }
    }
}
