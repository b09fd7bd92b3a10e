import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends requests with `URLSession`, without cookies, cache, stored credentials and redirections.
public final class URLSessionTransport: HTTPTransport {
    private final class Unredirected: NSObject, URLSessionTaskDelegate, Sendable {
        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
            completionHandler: @escaping (URLRequest?) -> Void
        ) {
            completionHandler(nil)
        }
    }

    private let session: URLSession

    /// Opens a session of its own.
    public init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        // An answer that drips would otherwise never end.
        configuration.timeoutIntervalForResource = 60
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        session = URLSession(
            configuration: configuration, delegate: Unredirected(), delegateQueue: nil)
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
        let (body, response): (Data, URLResponse)
        do {
            (body, response) = try await session.data(for: sent)
        } catch {
            throw Self.error(error)
        }
        guard let response = response as? HTTPURLResponse else { throw .unanswered }
        var fields: [String: String] = [:]
        for (name, value) in response.allHeaderFields { fields["\(name)"] = "\(value)" }
        return TransportResponse(status: response.statusCode, headers: fields, body: body)
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
