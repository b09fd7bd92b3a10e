internal import Encodings
internal import HTTPClient
internal import JSON
internal import Ledger
internal import Synchronization

/// The HTTP interface of a provider, or of a service of the operator, as one of its clients calls it.
///
/// Anyone can make the ledger call it by sending tokens, so the calls at one time are limited,
/// and so are the time and the size of each.
final class ProviderAPI: Sendable {
    /// The limits of calls.
    struct Limits {
        /// The maximum number of calls at one time.
        var calls = 64
        /// The maximum time to the last byte of an answer.
        var time = Duration.seconds(5)
    }

    private static let answerBytesMax = 1 << 18

    /// The URL that paths are appended to.
    let base: String
    private let limits: Limits
    private let calls = Mutex(0)

    init(base: String, limits: Limits = Limits()) {
        self.base = base
        self.limits = limits
    }

    /// Calls the provider, which answers with JSON.
    ///
    /// - Parameters:
    ///   - path: The path after the base URL, with the query.
    ///   - authorization: The value of `Authorization`; nil without it.
    ///   - body: The bytes to POST with their media type; nil for a GET.
    ///   - refusals: The statuses by which the provider says that the token is not valid, unless the error is a
    ///     temporary one.
    /// - Returns: The document of an answer with status 200.
    /// - Throws: `invalid` for one of `refusals`; `unavailable` for another answer, without one, and
    ///   beside too many other calls.
    func call(
        _ path: String, authorization: String?, body: (bytes: [UInt8], type: String)? = nil,
        refusals: Set<Int> = []
    ) async throws(Credential.Flaw) -> JSONValue {
        let (status, document) = try await exchange(path, authorization: authorization, body: body)
        guard !refusals.contains(status) else {
            throw document?.members?["error"]?.isTemporary == true ? .unavailable : .invalid
        }
        guard status == 200, let document else { throw .unavailable }
        return document
    }

    /// Calls the provider, as ``call(_:authorization:body:refusals:)``.
    ///
    /// - Returns: The status, and the document of the answer; nil for one that is not complete or not JSON.
    /// - Throws: `unavailable` without an answer, and beside too many other calls.
    func exchange(
        _ path: String, authorization: String?, body: (bytes: [UInt8], type: String)?
    ) async throws(Credential.Flaw) -> (status: Int, document: JSONValue?) {
        var fields = [ClientRequest.Field(name: "Accept", value: "application/json")]
        if let authorization {
            fields.append(ClientRequest.Field(name: "Authorization", value: authorization))
        }
        if let body { fields.append(ClientRequest.Field(name: "Content-Type", value: body.type)) }
        return try await exchange(path, fields: fields, body: body?.bytes)
    }

    /// Calls the interface with header fields, as ``exchange(_:authorization:body:)``.
    func exchange(
        _ path: String, fields: [ClientRequest.Field], body: [UInt8]?
    ) async throws(Credential.Flaw) -> (status: Int, document: JSONValue?) {
        guard begin() else { throw .unavailable }
        defer { end() }
        let answer: ClientAnswer
        do throws(TransferFault) {
            answer = try await HTTPClient.shared.send(
                ClientRequest(
                    url: base + path, fields: fields, body: body,
                    answerBody: .kept(bytesMax: Self.answerBytesMax, of: [200, 400])),
                within: limits.time)
        } catch {
            throw .unavailable
        }
        let document = answer.interruption == nil ? JSONValue(parsing: answer.body) : nil
        return (answer.status, document)
    }

    private func begin() -> Bool {
        calls.withLock { calls in
            guard calls < limits.calls else { return false }
            calls += 1
            return true
        }
    }

    private func end() {
        calls.withLock { $0 -= 1 }
    }

    /// Returns the value of `Authorization` for a client with its secret (RFC 6749, section 2.3.1).
    static func basic(_ client: String, _ secret: String) -> String {
        let pair = [client, secret].map(PercentEncoding.encode).joined(separator: ":")
        return "Basic \(Base64.encode(Array(pair.utf8)))"
    }
}

extension JSONValue {
    /// The codes by which Facebook says with status 400 that it fails, or that the app or the person calls it too
    /// often ("Handling Errors" of the Graph API).
    private static let temporaryCodes: Set<Int64> = [1, 2, 4, 17, 341]

    /// Whether the error of an answer, an object as that of Facebook, says nothing about the token or the code.
    var isTemporary: Bool {
        members?["code"]?.integer.map(Self.temporaryCodes.contains) ?? false
            || members?["is_transient"] == .bool(true)
    }

    private static let exactIntegerMax = 9_007_199_254_740_992.0

    /// The text of an identifier: a string, or an integer that a Double holds exactly.
    var identifier: String? {
        if let string { return string }
        guard let integer else { return nil }
        return "\(integer)"
    }

    /// A number that is a whole one and held exactly.
    var integer: Int64? {
        guard let number, abs(number) < Self.exactIntegerMax, number.rounded() == number else {
            return nil
        }
        return Int64(number)
    }
}

extension JSONMembers {
    /// Returns the seconds since 1970 of an optional time; nil when it is absent or null.
    ///
    /// - Throws: `invalid` for any other value: a token must not outlive an end that is not understood.
    func time(
        _ name: String, _ parse: (JSONValue) -> Int64? = \.integer
    ) throws(Credential.Flaw) -> Int64? {
        guard let value = present(name) else { return nil }
        guard let seconds = parse(value) else { throw .invalid }
        return seconds
    }
}
