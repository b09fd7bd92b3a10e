internal import Encodings
package import Foundation
internal import FoundationNetworking

/// An HTTP client over real sockets, like an app's backend: its HTTP is independent of the server's.
///
/// It follows no redirections, and has only the cookies that a test sends.
package final class WireClient: Sendable {
    /// A response.
    package struct Answer: Sendable {
        package let status: Int
        package let headers: [String: String]
        package let body: Data

        /// The body as a JSON object; empty when it is not one.
        package var json: [String: any Sendable] {
            let object = try? JSONSerialization.jsonObject(with: body)
            return (object as? [String: any Sendable]) ?? [:]
        }

        /// Returns a text member of the body.
        package func text(_ name: String) -> String? { json[name] as? String }

        /// Returns a member of the body that is a list of texts.
        package func texts(_ name: String) -> [String]? {
            (json[name] as? [any Sendable])?.compactMap { $0 as? String }
        }

        /// The claims of the access token in the body; empty without one.
        package var accessTokenClaims: [String: any Sendable] {
            let parts = (text("access_token") ?? "").split(separator: ".")
            let claims = parts.count == 3 ? Base64URL.decode(parts[1]) : nil
            let object = try? JSONSerialization.jsonObject(with: Data(claims ?? []))
            return (object as? [String: any Sendable]) ?? [:]
        }

        /// `error.code` of the body.
        package var errorCode: String? {
            (json["error"] as? [String: any Sendable])?["code"] as? String
        }

        /// `error.message` of the body.
        package var errorMessage: String? {
            (json["error"] as? [String: any Sendable])?["message"] as? String
        }

        /// Returns a header, regardless of the case of its name.
        package func header(_ name: String) -> String? {
            headers.first { $0.key.lowercased() == name.lowercased() }?.value
        }
    }

    private final class Unredirected: NSObject, URLSessionTaskDelegate {
        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
            completionHandler: @escaping (URLRequest?) -> Void
        ) {
            completionHandler(nil)
        }
    }

    /// The number of times that a persistent client repeats a request.
    private static let repetitionsMax = 60

    package let base: String
    private let session: URLSession
    private let isPersistent: Bool

    /// Creates a client for the server at `http://host:port`.
    ///
    /// A persistent client repeats what is answered 503, as the answer's `Retry-After` says. Its commands have
    /// idempotency keys, so that none is executed twice.
    package init(base: String, isPersistent: Bool = false) {
        self.base = base
        self.isPersistent = isPersistent
        let configuration = URLSessionConfiguration.ephemeral
        // Other tests slow down the machine.
        configuration.timeoutIntervalForRequest = 120
        configuration.httpMaximumConnectionsPerHost = 64
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        session = URLSession(
            configuration: configuration, delegate: Unredirected(), delegateQueue: nil)
    }

    /// Sends a request with raw bytes.
    ///
    /// - Throws: an error of `URLSession` when there is no response.
    package func send(
        _ method: String, _ path: String, headers: [String: String] = [:], body: Data? = nil
    ) async throws -> Answer {
        guard let url = URL(string: base + path) else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.httpBody = body
        for (name, value) in headers {
            request.setValue(value, forHTTPHeaderField: name)
        }
        let (data, response) = try await session.data(for: request)
        guard let response = response as? HTTPURLResponse else {
            throw URLError(.badServerResponse)
        }
        var fields: [String: String] = [:]
        for (name, value) in response.allHeaderFields {
            fields["\(name)"] = "\(value)"
        }
        return Answer(status: response.statusCode, headers: fields, body: data)
    }

    /// Sends a JSON object, optionally with an access token and an idempotency key.
    ///
    /// - Throws: as ``send(_:_:headers:body:)``.
    package func call(
        _ method: String, _ path: String, _ members: [String: any Sendable]? = nil,
        token: String? = nil, key: String? = nil, headers: [String: String] = [:]
    ) async throws -> Answer {
        var fields = headers
        if let token {
            fields["Authorization"] = "Bearer \(token)"
            if isPersistent, method != "GET" { fields["Idempotency-Key"] = UUID().uuidString }
        }
        if let key { fields["Idempotency-Key"] = key }
        var body: Data?
        if let members {
            fields["Content-Type"] = fields["Content-Type"] ?? "application/json"
            // Equal dictionaries may differ in order, but a repeated request must have the same body.
            body = try JSONSerialization.data(withJSONObject: members, options: [.sortedKeys])
        }
        var answer = try await send(method, path, headers: fields, body: body)
        for _ in 0..<(isPersistent ? Self.repetitionsMax : 0) {
            guard answer.status == 503, let seconds = answer.header("Retry-After").flatMap(Int.init)
            else { break }
            try await Task.sleep(for: .seconds(seconds))
            answer = try await send(method, path, headers: fields, body: body)
        }
        return answer
    }
}
