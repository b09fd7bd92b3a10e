import Glibc
import Sockets

/// A wait for a newly started server.
enum Readiness {
    private static let request = Array("GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)
    private static let pauseMicroseconds: UInt32 = 1_000

    /// Sends requests until the answer is 200.
    static func wait(port: UInt16, seconds: UInt64) throws {
        let deadline = MonotonicTime.nanoseconds + seconds * 1_000_000_000
        while MonotonicTime.nanoseconds < deadline {
            if try isReady(port: port) { return }
            usleep(pauseMicroseconds)
        }
        throw LoadFailure(description: "not ready within \(seconds) s")
    }

    private static func isReady(port: UInt16) throws -> Bool {
        // Refused until the server listens.
        guard let socket = try? ClientSocket(port: port) else { return false }
        let poll = try SocketPoll()
        try poll.add(socket, as: 0)
        try socket.send(request, 0..<request.count)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 8_192)
        var readable: [Int] = []
        while true {
            try poll.wait(into: &readable, milliseconds: 1_000)
            guard !readable.isEmpty, let count = try? socket.receive(into: &buffer), count > 0
            else { return false }
            bytes += buffer[..<count]
            if let answer = try Answer(bytes, count: bytes.count) { return answer.status == 200 }
        }
    }
}
