import Dispatch
import Glibc

/// Accepts connections on a thread of its own, each as soon as there is room for it.
final class Acceptor: Sendable {
    /// How long it rests when the system has no descriptor or no memory left for a connection.
    private static let restMicroseconds: UInt32 = 20_000

    private let socket: ListenSocket
    private let registry: ConnectionRegistry
    private let thread = DispatchQueue(label: "HTTP acceptor")

    /// Begins to accept.
    ///
    /// - Parameters:
    ///   - socket: The socket that listens.
    ///   - registry: Knows whether there is room.
    ///   - serve: Takes a connection and its number, which counts from 0; false when it has closed the
    ///     connection instead.
    init(
        socket: consuming ListenSocket, registry: ConnectionRegistry,
        serve: @escaping @Sendable (AcceptedSocket, Int) -> Bool
    ) {
        self.socket = socket
        self.registry = registry
        thread.async { self.run(serve) }
    }

    /// Accepts no more, so that the system refuses new connections; returns when none is under way.
    func stop() {
        // In this order: who is woken by the second sees the first.
        registry.close()
        socket.shutDown()
        thread.sync {}
    }

    private func run(_ serve: (AcceptedSocket, Int) -> Bool) {
        var number = 0
        while true {
            socket.waitForConnection()
            guard registry.takePlace() else { return }
            if let accepted = AcceptedSocket(from: socket) {
                if serve(accepted, number) {
                    number &+= 1
                    continue
                }
            } else if ![ECONNABORTED, EAGAIN, EINTR].contains(errno) {
                // Any other reason than a client that is gone again will be the same at once.
                usleep(Self.restMicroseconds)
            }
            registry.giveBackPlace()
        }
    }
}
