import Foundation

/// A value of a body.
enum BodyValue: Encodable, Sendable {
    case text(String)
    case flag(Bool)
    case texts([String: String])
    case list([String])
    indirect case object([String: BodyValue])

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .flag(let flag): try container.encode(flag)
        case .texts(let texts): try container.encode(texts)
        case .list(let texts): try container.encode(texts)
        case .object(let members): try container.encode(members)
        }
    }
}

/// A call of the API.
struct APICall: Sendable {
    let route: Route
    /// The segments that vary, in the order of the route's template.
    let segments: [String]
    let query: [(name: String, value: String)]
    let body: [String: BodyValue]?
    /// Of a route with keys: the same for every request of this call, also after a renewal of the session.
    let idempotencyKey: String?

    /// Describes a call, whose key is random where the route takes one and none is given.
    init(
        route: Route, segments: [String] = [], query: [(name: String, value: String)] = [],
        body: [String: BodyValue]? = nil, idempotencyKey: String? = nil
    ) {
        self.route = route
        self.segments = segments
        self.query = query
        self.body = body
        self.idempotencyKey =
            route.repetition == .withKey ? idempotencyKey ?? UUID().uuidString.lowercased() : nil
    }
}

/// Sends calls to a ledger, repeatedly where that is safe and may help.
struct RequestSender: Sendable {
    let address: LedgerAddress
    let transport: any HTTPTransport
    let time: any TimeSource
    let clock: ServerClock
    let policy: RetryPolicy

    /// Sends a call, and returns the body of its answer.
    func send<Answer: Decodable>(
        _ call: APICall, token: String? = nil, as type: Answer.Type
    ) async throws(LedgerError) -> Answer {
        let requestID = UUID().uuidString.lowercased()
        let response = try await response(to: call, token: token, requestID)
        do {
            return try Self.decoder.decode(type, from: response.body)
        } catch {
            throw LedgerError(
                .unexpectedAnswer, status: response.status,
                message: "The answer is not the ledger's", requestID: requestID)
        }
    }

    private func response(
        to call: APICall, token: String?, _ requestID: String
    ) async throws(LedgerError) -> TransportResponse {
        let request = try request(of: call, token: token, requestID)
        let end = time.monotonic + policy.callTime
        var attempts = 0
        var mayHaveActed = false
        var wasLost = false
        while true {
            attempts += 1
            var failure: LedgerError
            var isUnsent = false
            do throws(TransportError) {
                let response = try await transport.send(request)
                await observeDate(of: response, requestID)
                guard let refusal = Self.refusal(response, requestID) else { return response }
                failure = refusal
                // A ledger that asks for patience has not acted.
                mayHaveActed = mayHaveActed || refusal.status != 429
            } catch {
                switch error {
                case .cancelled: throw Self.cancelled(requestID)
                case .notSent: isUnsent = true
                case .unanswered: (mayHaveActed, wasLost) = (true, true)
                }
                failure = LedgerError(
                    .noAnswer,
                    message: isUnsent
                        ? "The ledger cannot be reached" : "The ledger did not answer",
                    requestID: requestID)
            }
            failure.isWithoutEffect = !mayHaveActed
            failure.followsLostAnswer = wasLost
            let isTemporary = [nil, 429, 502, 503, 504].contains(failure.status)
            let wait = policy.wait(after: attempts, retryAfter: failure.retryAfter)
            guard isTemporary, call.route.repetition != .never || isUnsent,
                attempts < policy.attemptsMax, time.monotonic + wait < end
            else { throw failure }
            do {
                try await time.sleep(for: wait)
            } catch {
                throw Self.cancelled(requestID)
            }
        }
    }

    private static func cancelled(_ requestID: String) -> LedgerError {
        LedgerError(.cancelled, message: "The task was cancelled", requestID: requestID)
    }

    /// Notes the time of an answer of the ledger: another one, such as a hotel's page, does not repeat the id.
    private func observeDate(of response: TransportResponse, _ requestID: String) async {
        guard response.header("X-Request-Id") == requestID,
            let date = response.header("Date").flatMap(ServerTime.httpDate)
        else { return }
        await clock.observe(date)
    }

    private func request(
        of call: APICall, token: String?, _ requestID: String
    ) throws(LedgerError) -> TransportRequest {
        var path = ""
        var segments = call.segments[...]
        for part in call.route.template.split(separator: "/") {
            if part.first == "{", let segment = segments.popFirst() {
                path += try "/" + LedgerAddress.segment(segment)
            } else {
                path += "/" + part
            }
        }
        for (index, pair) in call.query.enumerated() {
            path +=
                try (index == 0 ? "?" : "&") + pair.name + "="
                + LedgerAddress.segment(pair.value)
        }
        guard let url = URL(string: address.base + path) else {
            throw LedgerError(.invalidRequest, message: "The address of the ledger is malformed")
        }
        var headers = ["X-Request-Id": requestID, "Accept": "application/json"]
        if let token { headers["Authorization"] = "Bearer \(token)" }
        if let key = call.idempotencyKey { headers["Idempotency-Key"] = key }
        var body: Data?
        if let members = call.body {
            headers["Content-Type"] = "application/json"
            body = try? Self.encoder.encode(members)
        }
        // Such a field would end at a line break, and begin another one.
        guard headers.values.allSatisfy({ $0.utf8.allSatisfy { (0x20...0x7E).contains($0) } })
        else {
            throw LedgerError(
                .invalidRequest, message: "A header field has characters that HTTP does not allow",
                requestID: requestID)
        }
        return TransportRequest(
            method: call.route.method, url: url, headers: headers, body: body,
            timeout: call.route == .refresh ? policy.refreshAttemptTime : policy.attemptTime)
    }

    /// Reads the seconds of `Retry-After`, which proxies may send as a date: it counts from that of the answer.
    private static func retryAfter(_ response: TransportResponse) -> Int? {
        guard let text = response.header("Retry-After") else { return nil }
        if let seconds = Int(text) { return seconds }
        guard let now = response.header("Date").flatMap(ServerTime.httpDate),
            let date = ServerTime.httpDate(text)
        else { return nil }
        return Int(now.distance(to: date))
    }

    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        // A repetition must have the same body.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()

    private static let decoder: JSONDecoder = {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            guard let date = ServerTime.date(try container.decode(String.self)) else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "not a time of the API")
            }
            return date
        }
        return decoder
    }()

    /// Reads the error of an answer; nil for a success.
    private static func refusal(_ response: TransportResponse, _ requestID: String) -> LedgerError?
    {
        let isSmall = response.body.count <= TransportResponse.bodyBytesMax
        // 201 answers a sign-up that opens the account at once.
        guard ![200, 201].contains(response.status) || !isSmall else { return nil }
        let error = isSmall ? try? decoder.decode(ErrorAnswer.self, from: response.body).error : nil
        let requestID = response.header("X-Request-Id") ?? requestID
        let seconds = retryAfter(response)
        let code =
            error.map { LedgerError.Code(rawValue: $0.code) }
            ?? (response.status == 503 ? .unavailable : .unexpectedAnswer)
        var refusal = LedgerError(
            code, status: response.status,
            message: error?.message ?? "The address of the ledger answered without its error",
            details: error?.details.texts ?? [:], requestID: requestID,
            retryAfter: seconds.map { .seconds(max(0, $0)) })
        if code == .secondFactorRequired { refusal.challenge = error?.details.challenge }
        refusal.proofToken = error?.details.proofToken
        return refusal
    }
}
