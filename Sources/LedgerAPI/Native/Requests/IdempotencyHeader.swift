internal import Ledger

/// The `Idempotency-Key` field: a client's name for a request, which makes repeating it safe.
enum IdempotencyHeader {
    /// The maximum length of a key, in characters.
    static let charactersMax = 255
    private static let name = "Idempotency-Key"

    static let parameter = Parameter(
        name: name, location: .header,
        schema: .text(
            "link-1",
            Schema.TextRules(pattern: "^[!-~]([ -~]*[!-~])?$", lengths: 1...charactersMax)),
        about: "The client's name for the request: for 24 hours, the same request with the same"
            + " key gets the same answer", isInExample: true)

    /// The field on routes whose answers hold a secret, which would have to be kept to answer again.
    static let refused = {
        var refused = parameter.about("`\(name)` is refused, because the answer holds tokens.")
        refused.isInExample = false
        refused.isRefused = true
        return refused
    }()

    /// The error for a request with a key that ``refused`` refuses.
    static let refusal = APIError.invalidRequest(
        RequestFlaw(
            "\(name) is not supported here, because the answer holds tokens", at: .header(name)))

    /// - Throws: 400 for a request with a key, on a route that refuses it.
    static func refuse(_ call: RouteCall) throws(APIError) {
        guard try call.values(of: refused).isEmpty else { throw refusal }
    }

    /// Reads the key; nil when the request has none.
    ///
    /// - Throws: `invalidRequest` unless it is one field of 1 to 255 printable ASCII characters.
    static func read(_ call: RouteCall) throws(APIError) -> String? {
        let values = try call.values(of: parameter)
        guard let key = values.first else { return nil }
        let isPrintable = key.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        let length = key.utf8.count
        guard values.count == 1, (1...charactersMax).contains(length), isPrintable else {
            throw .invalidRequest(
                RequestFlaw(
                    "\(name) must be one field of 1 to \(charactersMax) printable characters",
                    at: .header(name)))
        }
        return key
    }
}

extension RouteCall {
    /// Returns the key under which the ledger stores the answer.
    ///
    /// The scope is one account, method and path, without the tenant prefix because a key belongs
    /// to its tenant anyway. A principal is part of the scope as well, so that two who work on one
    /// case do not get each other's answers.
    func idempotency(
        _ key: String, of account: AccountID, by principal: Principal? = nil, method: String,
        path: String, content: [UInt8]
    ) -> IdempotencyKey {
        let parts = [method, path, key, principal?.id.description].compactMap(\.self)
        return services.requestDigests.idempotencyKey(
            scope: Array(parts.joined(separator: "\0").utf8), content: content, of: account,
            at: now)
    }
}
