import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends requests with `URLSession`, without cookies, cache, stored credentials and redirections.
public final class URLSessionTransport: HTTPTransport {
    /// A part of an answer.
    private enum Event: Sendable {
        case response(URLResponse)
        case data(Data)
        case end((any Error)?)
        case deadline
    }

    /// The exchanges that have not ended, by the numbers of their tasks.
    private actor Exchanges {
        private var open: [Int: AsyncStream<Event>.Continuation] = [:]

        func begin(_ number: Int, _ events: AsyncStream<Event>.Continuation) {
            open[number] = events
        }

        func end(_ number: Int) {
            open[number] = nil
        }

        func distribute(_ events: AsyncStream<(Int, Event)>) async {
            for await (number, event) in events { open[number]?.yield(event) }
        }
    }

    /// Passes on the parts of answers as they come.
    private final class Receiver: NSObject, URLSessionDataDelegate, Sendable {
        private let events: AsyncStream<(Int, Event)>.Continuation

        init(_ events: AsyncStream<(Int, Event)>.Continuation) {
            self.events = events
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
            completionHandler: @escaping (URLRequest?) -> Void
        ) {
            completionHandler(nil)
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
        ) {
            events.yield((dataTask.taskIdentifier, .response(response)))
            completionHandler(.allow)
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data
        ) {
            events.yield((dataTask.taskIdentifier, .data(data)))
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
        ) {
            events.yield((task.taskIdentifier, .end(error)))
        }

        func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
            events.finish()
        }
    }

    private let session: URLSession
    private let exchanges = Exchanges()
    private let time: any TimeSource

    /// Opens a session of its own.
    ///
    /// - Parameter time: The clocks, of which the monotonic one limits an exchange.
    public init(time: any TimeSource = SystemTime()) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        let (events, continuation) = AsyncStream.makeStream(of: (Int, Event).self)
        session = URLSession(
            configuration: configuration, delegate: Receiver(continuation), delegateQueue: nil)
        self.time = time
        Task { [exchanges] in await exchanges.distribute(events) }
    }

    deinit {
        session.finishTasksAndInvalidate()
    }

    /// Sends a request once.
    ///
    /// - Parameter request: The request.
    /// - Returns: The answer, of any status.
    /// - Throws: ``TransportError`` without an answer.
    public func send(
        _ request: TransportRequest
    ) async throws(TransportError) -> TransportResponse {
        var sent = URLRequest(url: request.url)
        sent.httpMethod = request.method
        sent.httpBody = request.body
        sent.timeoutInterval = request.timeout / .seconds(1)
        for (name, value) in request.headers { sent.setValue(value, forHTTPHeaderField: name) }
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        let task = session.dataTask(with: sent)
        await exchanges.begin(task.taskIdentifier, continuation)
        // The session's own timeout begins anew with each byte.
        let deadline = Task { [time] in
            guard (try? await time.sleep(for: request.timeout)) != nil else { return }
            continuation.yield(.deadline)
        }
        task.resume()
        let answer = await Self.answer(events)
        deadline.cancel()
        task.cancel()
        await exchanges.end(task.taskIdentifier)
        return try answer.get()
    }

    /// Reads an answer, up to the first byte too many.
    private static func answer(
        _ events: AsyncStream<Event>
    ) async -> Result<TransportResponse, TransportError> {
        var response: HTTPURLResponse?
        var body = Data()
        reading: for await event in events {
            switch event {
            case .response(let head): response = head as? HTTPURLResponse
            case .data(let data):
                body += data.prefix(TransportResponse.bodyBytesMax + 1 - body.count)
                if body.count > TransportResponse.bodyBytesMax { break reading }
            case .end(let error?): return .failure(Self.error(error))
            case .end(nil): break reading
            case .deadline: return .failure(.unanswered)
            }
        }
        guard !Task.isCancelled else { return .failure(.cancelled) }
        guard let response else { return .failure(.unanswered) }
        var fields: [String: String] = [:]
        for (name, value) in response.allHeaderFields { fields["\(name)"] = "\(value)" }
        return .success(
            TransportResponse(status: response.statusCode, headers: fields, body: body))
    }

    private static func error(_ error: any Error) -> TransportError {
        guard !(error is CancellationError), !Task.isCancelled else { return .cancelled }
        return switch (error as? URLError)?.code {
        case .cancelled: .cancelled
        case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet,
            .appTransportSecurityRequiresSecureConnection, .secureConnectionFailed,
            .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid:
            .notSent
        default: .unanswered
        }
    }
}
