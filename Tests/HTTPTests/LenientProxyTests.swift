import HTTP
import Synchronization
import Testing

/// Behind a lenient proxy no request can be smuggled: the server sends no more answers than requests.
@Suite(.timeLimit(.minutes(10)))
struct LenientProxyTests {
    @Test(arguments: LenientProxy.Kind.allCases)
    func `the server answers no request that the proxy did not pass on`(
        kind: LenientProxy.Kind
    ) async throws {
        let answered = Answered()
        let server = try HTTPServer(
            host: "127.0.0.1", port: 0, limits: HTTPServerLimits(),
            reject: { rejection, headers in
                answered.add("refused")
                return reject(rejection, headers)
            },
            handler: { request in
                answered.add(request.path)
                return await echo(request)
            })
        let proxy = try await LenientProxy(kind, before: server.port)
        await withTaskGroup(of: Void.self) { group in
            for (path, framing) in Self.hidden {
                group.addTask {
                    guard let client = try? await RawClient(port: proxy.port) else { return }
                    try? await client.sendBytes(framing.bytes + HostileFraming.smuggled(path))
                    _ = try? await client.receiveUntilClosed()
                }
            }
        }
        let passed = try proxy.stop()
        await server.stop(grace: .seconds(5))
        // The proxy refuses some, the server others, and some are changed to valid requests.
        #expect(answered.count { $0 == "refused" } > 0)
        #expect(answered.count { $0 != "refused" } > 0)
        #expect(answered.count { _ in true } <= passed.count, "\(passed)")
        #expect(answered.count { $0.hasPrefix("/smuggled-") } > 0)
        for (path, framing) in Self.hidden {
            #expect(
                answered.count { $0 == path } <= passed.count { $0.contains(" \(path) ") },
                "\(framing.testDescription): \(passed)")
        }
    }

    /// The framings, each with the path of the request that is hidden behind it.
    private static let hidden = HostileFraming.all.enumerated().map {
        (path: "/smuggled-\($0.offset)", framing: $0.element)
    }

    /// The server's answers: the paths, or refusals.
    private final class Answered: Sendable {
        private let answers = Mutex<[String]>([])

        func add(_ answer: String) {
            answers.withLock { $0.append(answer) }
        }

        func count(where isCounted: (String) -> Bool) -> Int {
            answers.withLock { $0.count(where: isCounted) }
        }
    }
}
