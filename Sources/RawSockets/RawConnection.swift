internal import Glibc

/// A TCP connection over loopback that sends arbitrary bytes, for tests.
///
/// Its calls block.
package final class RawConnection {
    /// The reason why a call failed.
    package enum Failure: Error {
        case failed(call: String, code: Int32)
        case timedOut
        case answerTooLong
    }

    private let descriptor: Int32
    private let waitSecondsMax: Int

    /// Connects to 127.0.0.1.
    ///
    /// - Throws: `Failure` when no server listens.
    package init(port: UInt16, waitSecondsMax: Int) throws(Failure) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw .failed(call: "socket", code: errno) }
        self.waitSecondsMax = waitSecondsMax
        waitAtMost(milliseconds: waitSecondsMax * 1000)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw .failed(call: "connect", code: errno) }
    }

    deinit { close(descriptor) }

    /// Sends bytes until the peer closes: it may answer and close before it has read all of them.
    package func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Returns all bytes that the peer sends until it closes or resets the connection.
    ///
    /// After a quiet period the sending side is closed, which ends the wait of a peer for more bytes.
    ///
    /// - Throws: `Failure` when it still does not close in time, or sends more than the limit.
    package func readToEnd(quietMilliseconds: Int, bytesMax: Int) throws(Failure) -> [UInt8] {
        var received: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        var isQuiet = false
        waitAtMost(milliseconds: quietMilliseconds)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { bytes in
                unsafe recv(descriptor, bytes.baseAddress, bytes.count, 0)
            }
            switch (count, errno) {
            case (1..., _): received.append(contentsOf: chunk.prefix(count))
            case (0, _), (_, ECONNRESET): return received
            case (_, EAGAIN) where !isQuiet:
                isQuiet = true
                shutdown(descriptor, Int32(SHUT_WR))
                waitAtMost(milliseconds: waitSecondsMax * 1000)
            case (_, EAGAIN): throw .timedOut
            case (_, let code): throw .failed(call: "recv", code: code)
            }
            guard received.count <= bytesMax else { throw .answerTooLong }
        }
    }

    private func waitAtMost(milliseconds: Int) {
        var wait = timeval(
            tv_sec: milliseconds / 1000, tv_usec: milliseconds % 1000 * 1000)
        let size = socklen_t(MemoryLayout<timeval>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &wait, size)
    }
}
