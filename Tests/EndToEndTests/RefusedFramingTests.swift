import BlockingCalls
import Foundation
import LedgerTestSupport
import Sockets
import Testing

/// Requests with invalid framing are answered like all others: one JSON error, counted and logged.
@Suite struct RefusedFramingTests {
    private static let rows: [(framing: String, status: Int, code: String)] = [
        ("Transfer-Encoding: chunked\n\n2;\nxx\n0\n\n", 411, "LENGTH_REQUIRED"),
        ("Transfer-Encoding: chunked\n\n2;\(run(16_000, "a"))\nxx\n0\n\n", 411, "LENGTH_REQUIRED"),
        ("Transfer-Encoding: chunked\n\n\(run(16_000, "0"))2\nxx\n0\n\n", 411, "LENGTH_REQUIRED"),
        ("Transfer-Encoding: gzip\n\n", 411, "LENGTH_REQUIRED"),
        ("Content-Length: +2\n\n{}", 400, "INVALID_REQUEST"),
        ("Content-Length: 2, 2\n\n{}", 400, "INVALID_REQUEST"),
        ("Content-Length: \n\n{}", 400, "INVALID_REQUEST"),
        ("Content-Length: -1\n\n{}", 400, "INVALID_REQUEST"),
        ("Content-Length: 2\nContent-Length: 2\n\n{}", 400, "INVALID_REQUEST"),
        ("Content-Length: 99999999999999999999\n\n{}", 413, "PAYLOAD_TOO_LARGE"),
        ("Content-Length: 10000000\n\n{}", 413, "PAYLOAD_TOO_LARGE"),
        ("no colon\n\n", 400, "INVALID_REQUEST"),
        ("X: \(run(40_000, "a"))\n\n", 431, "INVALID_REQUEST"),
    ]

    @Test func `each has one answer, one line in the log and one count`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let port = try #require(UInt16(server.port))
            for (number, row) in Self.rows.enumerated() {
                let text =
                    "POST /v1/auth/refresh HTTP/1.1\nHost: h\nX-Request-Id: framing-\(number)\n\(row.framing)"
                    + "GET /healthz HTTP/1.1\nHost: h\n\n"
                let answer = try await Self.exchange(port, text.replacing("\n", with: "\r\n"))
                let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1)
                try #require(parts.count == 2, "\(row.framing.prefix(80)): \(answer)")
                #expect(parts[0].hasPrefix("HTTP/1.1 \(row.status) "))
                #expect(parts[0].contains("\r\nX-Request-Id: framing-\(number)"))
                #expect(parts[0].contains("\r\nConnection: close"))
                #expect(answer.ranges(of: "HTTP/1.1 ").count == 1, "\(answer)")
                let body = try JSONSerialization.jsonObject(with: Data(parts[1].utf8))
                let error = (body as? [String: [String: Any]])?["error"]
                #expect(error?["code"] as? String == row.code)
            }
            let metrics = try await server.admin.call("GET", "/metrics")
            let page = String(decoding: metrics.body, as: UTF8.self)
            for status in Set(Self.rows.map(\.status)) {
                let count = Self.rows.count { $0.status == status }
                let sample = "method=\"OTHER\",route=\"rejected\",status=\"\(status)\"} \(count)\n"
                #expect(page.contains(sample), "\(sample)")
            }
            try await eventually("a line in the log for each") {
                let lines = server.log.split(separator: "\n")
                return Self.rows.indices.allSatisfy { number in
                    lines.count { $0.contains("\"framing-\(number)\"") } == 1
                } ? true : nil
            }
        }
    }

    /// Everything that the server sends until it closes the connection.
    private static func exchange(_ port: UInt16, _ request: String) async throws -> String {
        try await BlockingExecutor(label: "exchange").run {
            let bytes = try ClientSocket(port: port, waitSecondsMax: 60).exchange(
                Array(request.utf8), quietMilliseconds: 60_000, waitSecondsMax: 60,
                bytesMax: 1_000_000)
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    private static func run(_ count: Int, _ text: String) -> String {
        String(repeating: text, count: count)
    }
}
