import BlockingCalls
import HTTP
import LedgerAPI
import Sockets

/// A server on the loopback interface, and a client that sends it one request a connection.
final class SocketTransport: Sendable {
    /// The server's bytes are not one response.
    struct NoResponse: Error {
        let text: String
    }

    private let server: HTTPServer

    init(_ api: API) throws {
        server = try HTTPServer(
            host: "127.0.0.1", port: 0, limits: HTTPServerLimits(),
            reject: { api.reject($0, $1) }, handler: { await api.handle($0) })
    }

    /// Sends a request and returns the response, without the fields that the server adds.
    func send(
        _ method: String, _ target: String, headers: [(name: String, value: String)],
        body: [UInt8]?
    ) async throws -> HTTPResponse {
        var fields = headers + [("Host", "ledger.example"), ("Connection", "close")]
        if let body { fields.append(("Content-Length", "\(body.count)")) }
        let lines = ["\(method) \(target) HTTP/1.1"] + fields.map { "\($0.name): \($0.value)" }
        let request = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (body ?? [])
        let port = server.port
        let hasBody = method != "HEAD"
        return try await BlockingExecutor(label: "socket transport").run {
            let socket = try ClientSocket(port: port, waitSecondsMax: 120)
            try socket.send(request)
            var bytes: [UInt8] = []
            while let next = try socket.nextBytes(), !next.isEmpty {
                bytes += next
                if let response = Self.response(bytes, hasBody: hasBody) { return response }
            }
            throw NoResponse(text: String(decoding: bytes, as: UTF8.self))
        }
    }

    /// Returns a complete response, or the head of one whose body is a stream; nil for less.
    private static func response(_ bytes: [UInt8], hasBody: Bool) -> HTTPResponse? {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        var lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
            .split(separator: "\r\n")
        let words = lines.removeFirst().split(separator: " ")
        guard words.count > 1, let status = Int(words[1]) else { return nil }
        var response = HTTPResponse(status: status)
        for line in lines {
            let name = line.prefix { $0 != ":" }
            let value = line.dropFirst(name.count + 1).drop { $0 == " " }
            response.headers.append((String(name), String(value)))
        }
        if hasBody, let length = response.headers.first(where: { $0.name == "Content-Length" }) {
            response.body = Array(bytes[end.upperBound...])
            guard length.value == "\(response.body.count)" else { return nil }
        }
        let own = ["Content-Length", "Connection", "Date", "Transfer-Encoding"]
        response.headers.removeAll { own.contains($0.name) }
        return response
    }
}
