internal import Glibc

/// A TCP connection to a server on 127.0.0.1, used by one thread at a time; closed with its owner.
package final class ClientSocket {
    /// 127.0.0.1.
    package static let loopback: UInt32 = 0x7F00_0001

    let descriptor: Int32
    private var isOpen = true

    /// Connects, without delaying small writes.
    ///
    /// - Parameters:
    ///   - port: the port of the server.
    ///   - source: the address of this end, of 127.0.0.0/8.
    ///   - waitSecondsMax: limits each wait of a call; nil for no limit.
    /// - Throws: `SocketError`.
    package init(
        port: UInt16, from source: UInt32 = loopback, waitSecondsMax: Int? = nil
    ) throws(SocketError) {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        descriptor = socket(AF_INET, type, 0)
        guard descriptor >= 0 else { throw SocketError("socket") }
        if let waitSecondsMax { try limitWaits(milliseconds: waitSecondsMax * 1000) }
        if source != Self.loopback {
            guard unsafe Self.call(bind, descriptor, source, 0) == 0 else {
                throw SocketError("bind")
            }
        }
        guard unsafe Self.call(connect, descriptor, Self.loopback, port) == 0 else {
            throw SocketError("connect")
        }
        try set(IPPROTO_TCP, TCP_NODELAY, Int32(1))
    }

    deinit { close() }

    /// Calls a function of a socket with an address and a port.
    private static func call(
        _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ descriptor: Int32,
        _ host: UInt32, _ port: UInt16
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = in_addr(s_addr: host.bigEndian)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe function(descriptor, pointer, size)
            }
        }
    }

    /// Closes the connection; with an abort the server gets a reset.
    package func close(abort: Bool = false) {
        guard isOpen, descriptor >= 0 else { return }
        isOpen = false
        if abort { try? set(Int(SOL_SOCKET), SO_LINGER, linger(l_onoff: 1, l_linger: 0)) }
        Glibc.close(descriptor)
    }

    /// Limits each wait of a call from now on.
    ///
    /// - Throws: `SocketError`.
    package func limitWaits(milliseconds: Int) throws(SocketError) {
        let limit = timeval(tv_sec: milliseconds / 1000, tv_usec: milliseconds % 1000 * 1000)
        try set(Int(SOL_SOCKET), SO_RCVTIMEO, limit)
        try set(Int(SOL_SOCKET), SO_SNDTIMEO, limit)
    }

    /// Sends a range of bytes, or all of them, completely.
    ///
    /// - Throws: `SocketError`.
    package func send(
        _ bytes: borrowing [UInt8], _ range: Range<Int>? = nil
    ) throws(SocketError) {
        let range = range ?? 0..<bytes.count
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

    /// Tells the server that nothing more is sent.
    package func endSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Receives bytes into the beginning of a buffer; nil if no bytes are available.
    ///
    /// - Returns: the number of bytes; 0 when the server has closed the connection.
    /// - Throws: `SocketError`.
    package func receive(into buffer: inout [UInt8]) throws(SocketError) -> Int? {
        try receive(into: &buffer, flags: Int32(MSG_DONTWAIT))
    }

    /// Waits for bytes and receives them; nil when none came within the limit.
    ///
    /// - Returns: the bytes; none when the server has closed or reset the connection.
    /// - Throws: `SocketError`.
    package func nextBytes() throws(SocketError) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        do throws(SocketError) {
            return try receive(into: &buffer, flags: 0).map { Array(buffer.prefix($0)) }
        } catch {
            guard error.code == ECONNRESET else { throw error }
            return []
        }
    }

    private func receive(into buffer: inout [UInt8], flags: Int32) throws(SocketError) -> Int? {
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { all in
                unsafe recv(descriptor, all.baseAddress, all.count, flags)
            }
            if count >= 0 { return count }
            if errno == EINTR { continue }
            guard errno == EAGAIN else { throw SocketError("recv") }
            return nil
        }
    }

    private func set<Value>(
        _ level: Int, _ option: Int32, _ value: Value
    ) throws(SocketError) {
        let result = unsafe withUnsafeBytes(of: value) { bytes in
            unsafe setsockopt(
                descriptor, Int32(level), option, bytes.baseAddress, socklen_t(bytes.count))
        }
        guard result == 0 else { throw SocketError("setsockopt") }
    }
}
