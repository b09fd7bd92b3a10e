import Foundation
import LedgerClient
import Synchronization

/// Records requests, and answers them by a rule or a server.
final class TestTransport: HTTPTransport {
    /// The fate of a request.
    enum Fate: Sendable {
        /// The server gets it and answers.
        case pass
        /// The server gets it, and its answer is lost.
        case lose
        /// No connection is made.
        case unsent
        /// The server does not get it, and this is answered.
        case answer(TransportResponse)
        /// The task was cancelled.
        case cancelled
    }

    private let server: (any HTTPTransport)?
    private let rule: Mutex<@Sendable (TransportRequest, Int) async -> Fate>
    private let recorded = Mutex<[TransportRequest]>([])

    /// The rule gets each request, and its number from 1.
    init(
        to server: (any HTTPTransport)? = nil,
        _ rule: @escaping @Sendable (TransportRequest, Int) async -> Fate = { _, _ in .pass }
    ) {
        self.server = server
        self.rule = Mutex(rule)
    }

    var requests: [TransportRequest] { recorded.withLock(\.self) }

    /// The requests of a path.
    func requests(of path: String) -> [TransportRequest] {
        requests.filter { $0.url.path().hasSuffix(path) }
    }

    /// Replaces the rule, and counts from 1 again.
    func follow(_ rule: @escaping @Sendable (TransportRequest, Int) async -> Fate) {
        recorded.withLock { $0 = [] }
        self.rule.withLock { $0 = rule }
    }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let number = recorded.withLock { requests in
            requests.append(request)
            return requests.count
        }
        let rule = rule.withLock(\.self)
        switch await rule(request, number) {
        case .pass:
            guard let server else { throw .notSent }
            return try await server.send(request)
        case .lose:
            _ = try await server?.send(request)
            throw .unanswered
        case .unsent: throw .notSent
        case .answer(let response): return response
        case .cancelled: throw .cancelled
        }
    }
}

extension TransportResponse {
    /// An answer with a JSON body.
    static func json(
        _ status: Int, _ body: String, headers: [String: String] = [:]
    ) -> TransportResponse {
        TransportResponse(status: status, headers: headers, body: Data(body.utf8))
    }

    /// A refusal of the ledger.
    static func refusal(
        _ status: Int, _ code: String, details: String = "{}", headers: [String: String] = [:]
    ) -> TransportResponse {
        .json(
            status, #"{"error":{"code":"\#(code)","message":"refused","details":\#(details)}}"#,
            headers: headers)
    }

    /// A session with numbered tokens.
    static func session(
        _ number: Int, user: String = "ada", device: String? = nil, secret: String? = nil,
        lifetime: Int = 600, headers: [String: String] = [:]
    ) -> TransportResponse {
        let device = device.map { #","device_token":"\#($0)""# } ?? ""
        let secret = secret.map { #","anonymous_secret":"\#($0)""# } ?? ""
        return .json(
            200,
            #"""
            {"access_token":"access-\#(number)","refresh_token":"refresh-\#(number)",
             "token_type":"Bearer","expires_in":\#(lifetime),"user_id":"\#(user)",
             "is_new_user":false,"linked_providers":["apple"]\#(device)\#(secret)}
            """#, headers: headers)
    }

    /// The account of a person.
    static func account(_ user: String = "ada") -> TransportResponse {
        .json(
            200,
            #"""
            {"user_id":"\#(user)","linked_providers":["apple"],"identities":[{"identity_id":"i",
              "provider":"apple","linked_at":"2026-11-20T23:17:50.859712Z","email":"a@example.com",
              "email_verified":null}]}
            """#)
    }
}

extension TransportRequest {
    /// A text member of the body.
    func text(_ name: String) -> String? {
        let object = body.flatMap { try? JSONSerialization.jsonObject(with: $0) }
        return (object as? [String: Any])?[name] as? String
    }
}
