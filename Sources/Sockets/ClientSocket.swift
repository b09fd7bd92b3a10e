internal import Glibc

/// A TCP connection to a server on 127.0.0.1, used by one thread at a time; closed with its owner.
package final class ClientSocket {
    let descriptor: Int32

    /// Connects, without delaying small writes, and makes the socket non-blocking.
    ///
    /// - Throws: `SocketError`.
    package init(port: UInt16) throws(SocketError) {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        descriptor = socket(AF_INET, type, 0)
        guard descriptor >= 0 else { throw SocketError("socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe connect(descriptor, pointer, size)
            }
        }
        guard result == 0 else { throw SocketError("connect") }
        var yes: Int32 = 1
        let length = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, length) == 0
        else { throw SocketError("setsockopt") }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Sends a range of bytes completely.
    ///
    /// - Throws: `SocketError`.
    package func send(_ bytes: borrowing [UInt8], _ range: Range<Int>) throws(SocketError) {
        var next = range.lowerBound
        while next < range.upperBound {
            let count = unsafe bytes.withUnsafeBytes { all in
                unsafe Glibc.send(
                    descriptor, all.baseAddress.map { unsafe $0 + next }, range.upperBound - next,
                    Int32(MSG_NOSIGNAL))
            }
            if count < 0 {
                guard errno == EINTR else { throw SocketError("send") }
            } else {
                next += count
            }
        }
    }

    /// Receives bytes into the beginning of a buffer; nil if no bytes are available.
    ///
    /// - Returns: the number of bytes; 0 when the server has closed the connection.
    /// - Throws: `SocketError`.
    package func receive(into buffer: inout [UInt8]) throws(SocketError) -> Int? {
        let count = unsafe buffer.withUnsafeMutableBytes { all in
            unsafe recv(descriptor, all.baseAddress, all.count, Int32(MSG_DONTWAIT))
        }
        if count >= 0 { return count }
        guard errno == EAGAIN || errno == EINTR else { throw SocketError("recv") }
        return nil
    }
}
