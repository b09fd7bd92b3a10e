import Foundation
import Synchronization

/// Answers each connection on 127.0.0.1 with fixed bytes, for as long as it lives.
///
/// Real bytes on a real socket: an HTTP server would not send the broken answers that are tested.
final class LoopbackServer: Sendable {
    let port: UInt16
    private let listener: Int32
    private let requestCount = Atomic<Int>(0)
    private let open = Mutex<[Int32]>([])

    struct CannotListen: Error {}

    /// Starts to listen; `closes` says whether a connection ends after its answer.
    init(answer: [UInt8], closes: Bool = true) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe bind(listener, generic, size) + listen(listener, 16)
                    + getsockname(listener, generic, &size)
            }
        }
        guard status == 0 else {
            close(listener)
            throw CannotListen()
        }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
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
                serve(connection, answer: answer, closes: closes)
            }
            close(listener)
        }
    }

    deinit {
        // Wakes `accept`, after which the thread closes the listener.
        shutdown(listener, Int32(SHUT_RDWR))
        for connection in open.withLock({ $0 }) {
            close(connection)
        }
    }

    /// Number of requests that were answered.
    var requests: Int {
        requestCount.load(ordering: .sequentiallyConsistent)
    }

    private func serve(_ connection: Int32, answer: [UInt8], closes: Bool) {
        requestCount.add(1, ordering: .sequentiallyConsistent)
        var buffer = [UInt8](repeating: 0, count: 4_096)
        _ = unsafe recv(connection, &buffer, buffer.count, 0)
        var sent = 0
        while sent < answer.count {
            let count = unsafe answer.withUnsafeBytes { bytes in
                unsafe send(
                    connection, bytes.baseAddress?.advanced(by: sent), bytes.count - sent,
                    Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else {
                break
            }
            sent += count
        }
        if closes {
            close(connection)
        } else {
            open.withLock { $0.append(connection) }
        }
    }
}
