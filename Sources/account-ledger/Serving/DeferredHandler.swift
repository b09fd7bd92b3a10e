import HTTP
import LedgerAPI
import Synchronization

/// A placeholder for handlers that can be made only when the port is known.
final class DeferredHandler: Sendable {
    typealias Handler = @Sendable (HTTPRequest) async -> HTTPResponse
    typealias Reject = @Sendable (HTTPRejection, HTTPHeaders) -> HTTPResponse

    /// A struct instead of a tuple: closures passed in and out of a generic lock are wrapped again at each
    /// access, so that every request would cost more than the one before it.
    private struct Handlers {
        let answer: Handler
        let reject: Reject
    }

    private let handlers = Mutex<Handlers?>(nil)

    /// Sets the handlers for all further requests.
    func set(answer: @escaping Handler, reject: @escaping Reject) {
        handlers.withLock { $0 = Handlers(answer: answer, reject: reject) }
    }

    /// Answers a request; before the handlers are set, with 503 and `Retry-After`.
    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        guard let answer = handlers.withLock({ $0?.answer }) else { return API.starting }
        return await answer(request)
    }

    /// Answers a request that the server itself rejects.
    func reject(_ rejection: HTTPRejection, _ headers: HTTPHeaders) -> HTTPResponse {
        handlers.withLock { $0?.reject }?(rejection, headers) ?? API.starting
    }
}
