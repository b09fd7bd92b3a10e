internal import Ledger

/// The parameters of a query: all known to the route, none more than once.
struct QueryParameters: Sendable {
    /// The parameter that requests personal data.
    static let disclose = "disclose"
    /// The default number of elements of a page.
    static let limitDefault = 100
    /// The maximum number of elements of a page.
    static let limitMax = 1_000

    private let values: [String: String]

    /// Reads the query.
    ///
    /// - Throws: 400 for a parameter that the route's description lacks, or that is empty or repeated.
    init(_ call: RouteCall) throws(APIError) {
        let known = call.operation.parameters.filter { $0.location == .query }
        let names = known.map(\.name)
        guard call.queryNames.allSatisfy(names.contains) else {
            let list = names.isEmpty ? "none" : names.joined(separator: ", ")
            throw .invalidRequest(
                RequestFlaw("The query has an unknown parameter; known: \(list)"))
        }
        var values: [String: String] = [:]
        for parameter in known {
            let sent = try call.values(of: parameter)
            guard sent.count < 2, sent.first != "" else {
                throw Self.flaw(parameter.name, "must occur once and not be empty")
            }
            values[parameter.name] = sent.first
        }
        self.values = values
    }

    /// The details for the access log: every parameter of the request; all were checked, so none
    /// holds personal data.
    var details: [String: String] { values }

    /// The text of a parameter; nil when it is absent.
    subscript(_ name: String) -> String? { values[name] }

    /// Returns the parsed value of a parameter; nil when it is absent.
    ///
    /// - Throws: 400 that says which form is valid.
    func value<Value>(
        _ name: String, _ wanted: String, _ read: (String) -> Value?
    ) throws(APIError) -> Value? {
        guard let text = values[name] else { return nil }
        guard let value = read(text) else { throw Self.flaw(name, "must be \(wanted)") }
        return value
    }

    /// Returns a position of the log.
    func position(_ name: String) throws(APIError) -> LogPosition? {
        try value(name, "a position: digits without a leading zero") { LogPosition(digits: $0) }
    }

    /// Returns a position of the log, or a time.
    func moment(_ name: String) throws(APIError) -> Moment? {
        try value(name, "a position or an RFC 3339 time") { Moment($0) }
    }

    /// Returns the order of a page, and the last element that was seen in it: `after`, or `before`
    /// with `order=newest`.
    ///
    /// - Throws: 400 for the one that belongs to the other order.
    func order<Cursor>(
        _ wanted: String, _ read: (String) -> Cursor?
    ) throws(APIError) -> (order: ReadingOrder, after: Cursor?) {
        let order =
            try value("order", "oldest or newest", ReadingOrder.init(rawValue:)) ?? .oldest
        let (own, other) = order == .oldest ? ("after", "before") : ("before", "after")
        guard values[other] == nil else {
            throw Self.flaw(
                other, order == .oldest ? "requires order=newest" : "requires order=oldest")
        }
        return (order, try value(own, wanted, read))
    }

    /// Returns the order of a page, and the last position that was seen in it.
    func order() throws(APIError) -> (order: ReadingOrder, after: LogPosition?) {
        try order("a position: digits without a leading zero") { LogPosition(digits: $0) }
    }

    /// Returns a Boolean; false when it is absent.
    func flag(_ name: String) throws(APIError) -> Bool {
        try value(name, "true or false") { ["true": true, "false": false][$0] } ?? false
    }

    /// Returns the maximum number of elements of the page, from `limit`.
    func limit() throws(APIError) -> Int {
        try value("limit", "a number from 1 to \(Self.limitMax)") { text in
            LogPosition(digits: text).flatMap { number in
                (1...Int64(Self.limitMax)).contains(number.value) ? Int(number.value) : nil
            }
        } ?? Self.limitDefault
    }

    static func flaw(_ name: String, _ problem: String) -> APIError {
        .invalidRequest(RequestFlaw("\(name) \(problem)", at: .parameter(name)))
    }
}

extension AuditRequest {
    /// Checks whether personal data is requested with `?disclose=true` and may be shown.
    ///
    /// - Parameters:
    ///   - query: the parameters of the request.
    ///   - coversAllAccounts: whether the request covers all accounts, and not one account or event.
    /// - Returns: false when none is requested.
    /// - Throws: 403, which is recorded, for a role that may see none, or not of all accounts; 400
    ///   without a reason.
    func isDisclosing(
        _ query: QueryParameters, coversAllAccounts: Bool = false
    ) async throws(APIError) -> Bool {
        guard try query.flag(QueryParameters.disclose) else { return false }
        try await authorizeDisclosure(
            [QueryParameters.disclose: "true"], coversAllAccounts: coversAllAccounts)
        return true
    }

    /// Records an access with the parameters of its query; to be called before anything is shown.
    ///
    /// - Throws: 503 when it cannot be recorded.
    func record(
        _ query: QueryParameters, account: AccountID? = nil, isDisclosed: Bool = false,
        more: [String: String] = [:]
    ) async throws(APIError) {
        try await record(
            query.details.merging(more) { old, _ in old }, account: account,
            isDisclosed: isDisclosed)
    }
}
