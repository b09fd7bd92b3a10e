import Glibc

/// An accepted connection, which its owner must serve or close.
struct AcceptedSocket {
    let descriptor: Int32
    let peer: sockaddr_storage
    let peerLength: socklen_t

    /// Accepts the oldest waiting connection; nil, with the reason in `errno`, when that fails.
    init?(from listener: borrowing ListenSocket) {
        var peer = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        descriptor = unsafe withUnsafeMutablePointer(to: &peer) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe accept(listener.descriptor, pointer, &length)
            }
        }
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        self.peer = peer
        peerLength = length
    }
}
