import Glibc

/// A listening TCP socket, closed with its owner.
struct ListenSocket: ~Copyable {
    private static let backlog: Int32 = 1024

    let descriptor: Int32
    let port: UInt16

    /// Binds and listens.
    ///
    /// SO_REUSEADDR lets a restarted server reuse its port immediately; SO_REUSEPORT, which would let two
    /// processes share a port unnoticed, stays off.
    init(host: String, port: UInt16) throws(HTTPServerError) {
        guard let address = IPAddress(host) else { throw .addressInvalid }
        let family = address.isIPv4 ? AF_INET : AF_INET6
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(family, type, 0)
        guard descriptor >= 0 else { throw .failed(call: "socket", code: errno) }
        do throws(HTTPServerError) {
            self.port = try Self.listen(descriptor, at: address, port: port)
            self.descriptor = descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    /// Blocks until a client connects or the socket is shut down.
    func waitForConnection() {
        var look = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        unsafe poll(&look, 1, -1)
    }

    /// Refuses new connections, and ends a wait for one.
    func shutDown() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    private static func listen(
        _ descriptor: Int32, at address: IPAddress, port: UInt16
    ) throws(HTTPServerError) -> UInt16 {
        var yes: Int32 = 1
        // An IPv6 socket on the unspecified address accepts IPv4 as well, whatever the system's
        // default.
        var no: Int32 = 0
        let size = socklen_t(MemoryLayout<Int32>.size)
        guard
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, size) == 0
        else { throw .failed(call: "setsockopt", code: errno) }
        // Accepted sockets inherit it: data sent to a vanished client is given up after this time, not
        // after the system's quarter of an hour.
        var unacknowledgedMilliseconds: CInt = 45_000
        guard
            unsafe setsockopt(
                descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &unacknowledgedMilliseconds,
                socklen_t(MemoryLayout<CInt>.size)) == 0
        else { throw .failed(call: "setsockopt", code: errno) }
        if !address.isIPv4 {
            guard
                unsafe setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &no, size) == 0
            else { throw .failed(call: "setsockopt", code: errno) }
        }
        var storage = sockaddr_storage()
        var length = address.write(port: port, to: &storage)
        let bound = unsafe withUnsafePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(descriptor, pointer, length)
            }
        }
        guard bound == 0 else { throw error(of: "bind") }
        guard Glibc.listen(descriptor, backlog) == 0 else { throw error(of: "listen") }
        let named = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe getsockname(descriptor, pointer, &length)
            }
        }
        guard named == 0 else { throw error(of: "getsockname") }
        // The port has the same offset in the addresses of both families.
        return unsafe withUnsafeBytes(of: &storage) { bytes in
            UInt16(bigEndian: unsafe bytes.loadUnaligned(as: sockaddr_in.self).sin_port)
        }
    }

    private static func error(of call: String) -> HTTPServerError {
        switch errno {
        case EADDRINUSE: .addressInUse
        case EADDRNOTAVAIL: .addressInvalid
        case let code: .failed(call: call, code: code)
        }
    }
}

extension IPAddress {
    /// Writes the address in the system's form and returns its length.
    fileprivate func write(port: UInt16, to storage: inout sockaddr_storage) -> socklen_t {
        unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            if isIPv4 {
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_port = port.bigEndian
                address.sin_addr = ipv4
                unsafe bytes.storeBytes(of: address, as: sockaddr_in.self)
                return socklen_t(MemoryLayout<sockaddr_in>.size)
            }
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = ipv6
            unsafe bytes.storeBytes(of: address, as: sockaddr_in6.self)
            return socklen_t(MemoryLayout<sockaddr_in6>.size)
        }
    }
}
