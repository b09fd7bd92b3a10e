import Foundation
import Synchronization

/// Answers each connection on 127.0.0.1 with fixed bytes, for as long as it lives.
///
/// Real bytes on a real socket: an HTTP server would not send the broken answers that are tested.
package final class LoopbackServer: Sendable {
    /// The port that it listens on.
    package let port: UInt16
    private let listener: Int32
    private let open = Mutex<[Int32]>([])
    private let received = Mutex<[String]>([])
    private let brokenOffCount = Atomic<Int>(0)

    /// The listener could not be set up.
    package struct CannotListen: Error {}

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - answer: What each connection is sent after its request.
    ///   - closes: Whether a connection ends after its answer.
    ///   - dripMilliseconds: Pause after each byte of the answer; nil to send it as a whole.
    /// - Throws: `CannotListen`.
    package init(answer: [UInt8], closes: Bool = true, dripMilliseconds: UInt32? = nil) throws {
        let (listener, port) = try LoopbackServer.listener()
        self.listener = listener
        self.port = port
        Thread.detachNewThread { [weak self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else {
                    break
                }
                guard let self else {
                    close(connection)
                    break
                }
                serve(
                    connection, answer: answer, closes: closes, dripMilliseconds: dripMilliseconds)
            }
            close(listener)
        }
    }

    /// Returns a socket that listens on a port of 127.0.0.1, any free one for 0.
    static func listener(at port: UInt16 = 0) throws(CannotListen) -> (socket: Int32, port: UInt16)
    {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        var reuses: Int32 = 1
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe setsockopt(
                    listener, SOL_SOCKET, SO_REUSEADDR, &reuses, socklen_t(MemoryLayout<Int32>.size)
                )
                    + bind(listener, generic, size) + listen(listener, 16)
                    + getsockname(listener, generic, &size)
            }
        }
        guard status == 0 else {
            close(listener)
            throw CannotListen()
        }
        return (listener, UInt16(bigEndian: address.sin_port))
    }

    deinit {
        // Wakes `accept`, after which the thread closes the listener.
        shutdown(listener, Int32(SHUT_RDWR))
        for connection in open.withLock({ $0 }) {
            close(connection)
        }
    }

    /// Number of requests that were answered.
    package var requests: Int {
        received.withLock(\.count)
    }

    /// The first bytes of each request.
    package var requestHeads: [String] {
        received.withLock { $0 }
    }

    /// Number of answers whose receiver left before their end.
    package var brokenOff: Int {
        brokenOffCount.load(ordering: .sequentiallyConsistent)
    }

    private func serve(
        _ connection: Int32, answer: [UInt8], closes: Bool, dripMilliseconds: UInt32?
    ) {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let length = unsafe max(0, recv(connection, &buffer, buffer.count, 0))
        let head = String(decoding: buffer.prefix(length), as: UTF8.self)
        received.withLock { $0.append(head) }
        var sent = 0
        while sent < answer.count {
            let end = dripMilliseconds == nil ? answer.count : sent + 1
            let count = unsafe answer.withUnsafeBytes { bytes in
                unsafe send(
                    connection, bytes.baseAddress?.advanced(by: sent), end - sent,
                    Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else {
                brokenOffCount.add(1, ordering: .sequentiallyConsistent)
                break
            }
            sent += count
            usleep(1_000 * (dripMilliseconds ?? 0))
        }
        if closes {
            close(connection)
        } else {
            open.withLock { $0.append(connection) }
        }
    }
}
