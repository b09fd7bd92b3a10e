import BlockingCalls
import Foundation
import HTTP
import Synchronization
import Testing

@testable import ledger_bench_load

/// The requests and counts of the load generator of `tools/bench`.
@Suite struct LoadRunTests {
    @Test func `every request is sent once, and every answer is counted`() async throws {
        let seen = Mutex<[String: Int]>([:])
        let figures = try await load(paths: 300, options: ["7", "--warm-up", "20"]) { request in
            seen.withLock { $0[request.path, default: 0] += 1 }
            return .answer(200, "{}")
        }.figures
        let counts = seen.withLock { $0 }
        #expect(counts.count == 300)
        #expect(counts.values.allSatisfy { $0 == 1 })
        #expect(figures.answers == 300)
        // Neither those of the warm-up nor the last ones, when connections had no more requests.
        #expect((274...280).contains(figures.latencies.count), "\(figures.latencies.count)")
        #expect(figures.nanoseconds > 0)
    }

    @Test func `requests carry the token and the body of their line`() async throws {
        let seen = Mutex<[String]>([])
        _ = try await load(lines: "POST\t/a\tTOKEN\t{\"b\":1}\n", options: ["1"]) { request in
            seen.withLock {
                $0 = [
                    request.method, request.path, request.headers["Authorization"] ?? "",
                    String(decoding: request.body, as: UTF8.self),
                ]
            }
            return .answer(200, "{}")
        }
        #expect(seen.withLock { $0 } == ["POST", "/a", "Bearer TOKEN", "{\"b\":1}"])
    }

    @Test func `rounds send the same requests again`() async throws {
        let figures = try await load(paths: 10, options: ["3", "--repeat", "4"]) { _ in
            .answer(200, "{}")
        }.figures
        #expect(figures.answers == 40)
    }

    @Test func `an answer other than 200 fails the run`() async throws {
        let failure = await #expect(throws: LoadFailure.self) {
            try await load(paths: 50, options: ["4"]) { request in
                .answer(request.path == "/30" ? 503 : 200, "{\"error\":\"busy\"}")
            }
        }
        #expect(failure?.description.contains("503") == true)
        #expect(failure?.description.contains("busy") == true)
    }

    @Test func `an answer without the expected text fails the run`() async throws {
        await #expect(throws: LoadFailure.self) {
            try await load(paths: 50, options: ["4", "--expect", "linked"]) { request in
                .answer(200, request.path == "/30" ? "{}" : "{\"linked\":true}")
            }
        }
    }

    @Test func `members are kept in the order of the requests`() async throws {
        let kept = try await load(paths: 40, options: ["8", "--keep", "b,a", "unused"]) { request in
            .answer(200, "{\"a\": \"\(request.path)\", \"b\":\"x\"}")
        }.kept
        #expect(kept == (0..<40).map { "x\t/\($0)" })
    }

    @Test func `an answer that lacks a member to keep fails the run`() async throws {
        await #expect(throws: LoadFailure.self) {
            try await load(paths: 1, options: ["1", "--keep", "c", "unused"]) { _ in
                .answer(200, "{\"a\":\"b\"}")
            }
        }
    }

    private func load(
        paths: Int, options: [String],
        _ answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) async throws -> Finished {
        try await load(
            lines: (0..<paths).map { "GET\t/\($0)\t\t\n" }.joined(), options: options, answer)
    }

    /// Runs a load on a separate server.
    private func load(
        lines: String, options: [String],
        _ answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) async throws -> Finished {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
            "requests-\(UUID().uuidString)")
        try Data(lines.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let server = try HTTPServer(
            host: "127.0.0.1", port: 0, limits: HTTPServerLimits(),
            reject: { _, _ in .answer(500, "{}") }, handler: { answer($0) })
        let words = ["\(server.port)", file.path] + options
        // The run blocks in the kernel, which must not happen on the threads of the server's tasks.
        let result = await BlockingExecutor(label: "load run").run {
            Result { try Finished(words) }
        }
        await server.stop(grace: .zero)
        return try result.get()
    }
}

/// The output of a run.
private struct Finished {
    let figures: LoadFigures
    let kept: [String]

    init(_ words: [String]) throws {
        let options = try LoadOptions(words)
        let requests = try PreparedRequests(path: options.requestsPath, port: options.port)
        var run = LoadRun(requests, options)
        try run.toItsEnd()
        figures = run.figures()
        kept = run.kept.map { String(decoding: $0, as: UTF8.self) }
    }
}

extension HTTPResponse {
    fileprivate static func answer(_ status: Int, _ body: String) -> HTTPResponse {
        HTTPResponse(status: status, headers: [], body: Array(body.utf8))
    }
}
