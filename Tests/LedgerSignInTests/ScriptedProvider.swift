import HTTP
import Synchronization

/// A provider on a loopback port that answers as a test says, and keeps the requests.
final class ScriptedProvider: Sendable {
    typealias Script = @Sendable (HTTPRequest) async -> (status: Int, body: String)

    private final class Received: Sendable {
        let requests = Mutex<[HTTPRequest]>([])
    }

    private let server: HTTPServer
    private let received: Received

    /// Runs the body with a provider, which then stops.
    @discardableResult
    static func with<Value>(
        _ script: @escaping Script, _ body: (ScriptedProvider) async throws -> Value
    ) async throws -> Value {
        let provider = try ScriptedProvider(script)
        do {
            let value = try await body(provider)
            await provider.server.stop(grace: .zero)
            return value
        } catch {
            await provider.server.stop(grace: .zero)
            throw error
        }
    }

    private init(_ script: @escaping Script) throws {
        let received = Received()
        self.received = received
        server = try HTTPServer(
            host: "127.0.0.1", port: 0, limits: HTTPServerLimits(),
            reject: { _, _ in HTTPResponse(status: 400) },
            handler: { request in
                received.requests.withLock { $0.append(request) }
                let answer = await script(request)
                return HTTPResponse(status: answer.status, body: Array(answer.body.utf8))
            })
    }

    /// Its base URL.
    var url: String { "http://127.0.0.1:\(server.port)" }

    /// The requests so far.
    var requests: [HTTPRequest] { received.requests.withLock(\.self) }
}
