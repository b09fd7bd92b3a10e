import Sockets

/// A socket and the bytes read from it in advance.
// Protected by the serial queue of its `RawClient`, on which all of its calls run.
final class RawSocket: @unchecked Sendable {
    private let socket: ClientSocket
    private var buffer: [UInt8] = []

    init(port: UInt16, waitSecondsMax: Int) throws {
        socket = try ClientSocket(port: port, waitSecondsMax: waitSecondsMax)
    }

    func close(abort: Bool) {
        socket.close(abort: abort)
    }

    func send(_ bytes: [UInt8]) throws {
        try socket.send(bytes)
    }

    func readResponse(_ what: String, toHead: Bool) throws -> RawResponse {
        let end = Array("\r\n\r\n".utf8)
        while buffer.firstRange(of: end) == nil { try fill(what) }
        guard let range = buffer.firstRange(of: end) else {
            throw RawClient.Failure.closed(waitingFor: what)
        }
        let head = String(decoding: buffer[..<range.lowerBound], as: UTF8.self)
        buffer.removeSubrange(..<range.upperBound)
        let lines = head.split(separator: "\r\n")
        let fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (
                name: String(parts[0]),
                value: parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
            )
        }
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        let length = fields.first { $0.name.lowercased() == "content-length" }.flatMap {
            Int($0.value)
        }
        let count = toHead || status < 200 || status == 304 ? 0 : length ?? 0
        while buffer.count < count { try fill(what) }
        let body = Array(buffer.prefix(count))
        buffer.removeFirst(count)
        return RawResponse(status: status, fields: fields, body: body)
    }

    /// Reads up to a text, and returns the bytes before it.
    func read(until mark: String, _ what: String) throws -> String {
        let mark = Array(mark.utf8)
        while true {
            if let range = buffer.firstRange(of: mark) {
                defer { buffer.removeSubrange(..<range.upperBound) }
                return String(decoding: buffer[..<range.lowerBound], as: UTF8.self)
            }
            try fill(what)
        }
    }

    func readToEnd(_ what: String) throws -> [UInt8] {
        do {
            while true { try fill(what) }
        } catch RawClient.Failure.closed {
            return buffer
        }
    }

    private func fill(_ what: String) throws {
        guard let next = try socket.nextBytes() else {
            throw RawClient.Failure.timedOut(waitingFor: what)
        }
        guard !next.isEmpty else { throw RawClient.Failure.closed(waitingFor: what) }
        buffer += next
    }
}
