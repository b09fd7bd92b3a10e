import Glibc

/// A loopback socket that accepts connections and sends nothing; closed on deinitialization.
final class SilentListener: Sendable {
    struct Failed: Error {}

    private let socket: Int32
    let port: UInt16

    init() throws {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { throw Failed() }
        self.socket = socket
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(socket, address, size) == 0 && listen(socket, 4) == 0
                    && getsockname(socket, address, &size) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard isBound else { throw Failed() }
    }

    deinit {
        close(socket)
    }
}
