public import Foundation

/// An HTTP request of this client.
public struct TransportRequest: Sendable {
    /// The method, such as `POST`.
    public var method: String
    /// The address.
    public var url: URL
    /// The header fields by name.
    public var headers: [String: String]
    /// The body, if any.
    public var body: Data?
    /// The time of the whole exchange, after which the request counts as unanswered.
    public var timeout: Duration

    /// Describes a request.
    public init(
        method: String, url: URL, headers: [String: String] = [:], body: Data? = nil,
        timeout: Duration
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
    }
}

/// An HTTP answer.
public struct TransportResponse: Sendable {
    /// More is no answer of the ledger.
    static let bodyBytesMax = 1 << 20

    /// The status.
    public var status: Int
    /// The body.
    public var body: Data
    private let fields: [String: String]

    /// Describes an answer, whose header fields may be in any case.
    public init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
        self.status = status
        self.body = body
        fields = Dictionary(headers.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
    }

    /// Returns a header field, whose name may be in any case.
    public func header(_ name: String) -> String? { fields[name.lowercased()] }
}

extension TransportRequest: CustomStringConvertible, CustomReflectable {
    /// The method and the path, without the query, the header fields and the body, which may have secrets.
    public var description: String { "\(method) \(url.path())" }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension TransportResponse: CustomStringConvertible, CustomReflectable {
    /// The status and the length, without the header fields and the body, which may have secrets.
    public var description: String { "status \(status) with \(body.count) bytes" }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The reason why a request got no answer.
public enum TransportError: Error, Sendable {
    /// No connection was made, so the server has not seen the request.
    case notSent
    /// The server may have acted on the request.
    case unanswered
    /// The task was cancelled; the server may have acted on the request.
    case cancelled
}

/// The way in which requests reach the ledger: ``URLSessionTransport``, or a double in tests of an app.
///
/// It must follow no redirections, since requests carry tokens, and keep no cookies and no cache. An answer of more
/// than 1 MiB is refused, so a transport need not read further.
public protocol HTTPTransport: Sendable {
    /// Sends a request once.
    ///
    /// - Parameter request: The request.
    /// - Returns: The answer, of any status.
    /// - Throws: ``TransportError`` without an answer.
    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse
}
