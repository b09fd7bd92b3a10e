import HTTP
import LedgerAPI
import Synchronization

/// Stands in for handlers that need to know the port before they can be made.
final class LateHandler: Sendable {
    typealias Handler = @Sendable (HTTPRequest) async -> HTTPResponse
    typealias Reject = @Sendable (HTTPRejection, HTTPHeaders) -> HTTPResponse

    /// A type of its own and not a tuple: closures that a generic lock lends in and out of itself are
    /// wrapped once more at each access, and every request would cost more than the one before it.
    private struct Handlers {
        let answer: Handler
        let reject: Reject
    }

    private let handlers = Mutex<Handlers?>(nil)

    /// Gives everything to these from now on.
    func set(answer: @escaping Handler, reject: @escaping Reject) {
        handlers.withLock { $0 = Handlers(answer: answer, reject: reject) }
    }

    /// Answers a request; one that comes too early is told to come again.
    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        guard let answer = handlers.withLock({ $0?.answer }) else { return Self.starting }
        return await answer(request)
    }

    /// Answers what the server itself refuses.
    func reject(_ rejection: HTTPRejection, _ headers: HTTPHeaders) -> HTTPResponse {
        handlers.withLock { $0?.reject }?(rejection, headers) ?? Self.starting
    }

    private static var starting: HTTPResponse {
        var response = HTTPResponse.failure(503, "UNAVAILABLE", "The service is starting")
        response.headers.append((name: "Retry-After", value: "1"))
        return response
    }
}
