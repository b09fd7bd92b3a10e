internal import HTTP
internal import Ledger

/// The parameters of a query, of which each is known to its route and stands there once.
struct QueryParameters: Sendable {
    /// The parameter that asks for personal data.
    static let disclose = "disclose"
    /// How many elements a page has unless it is said.
    static let limitDefault = 100
    /// How many elements a page has at the most.
    static let limitMax = 1_000

    private let values: [String: String]

    /// Reads the query.
    ///
    /// - Parameters:
    ///   - request: whose query it is.
    ///   - names: the parameters that the route knows.
    /// - Throws: 400 for a parameter that is not among them, is empty or stands there twice.
    init(_ request: HTTPRequest, _ names: [String]) throws(APIError) {
        var values: [String: String] = [:]
        for (name, value) in request.query {
            guard names.contains(name) else {
                let known = names.isEmpty ? "none" : names.joined(separator: ", ")
                throw .invalidRequest(
                    RequestFlaw("The query has an unknown parameter; known: \(known)"))
            }
            guard !value.isEmpty, values.updateValue(value, forKey: name) == nil else {
                throw Self.flaw(name, "must have one value")
            }
        }
        self.values = values
    }

    /// What the access log is told: every parameter that was given; each was checked, so that none holds
    /// personal data.
    var details: [String: String] { values }

    /// The text of a parameter; nil when it was not given.
    subscript(_ name: String) -> String? { values[name] }

    /// The value of a parameter, read as something; nil when it was not given.
    ///
    /// - Throws: 400 that says what would have been right.
    func value<Value>(
        _ name: String, _ wanted: String, _ read: (String) -> Value?
    ) throws(APIError) -> Value? {
        guard let text = values[name] else { return nil }
        guard let value = read(text) else { throw Self.flaw(name, "must be \(wanted)") }
        return value
    }

    /// A position of the log.
    func position(_ name: String) throws(APIError) -> LogPosition? {
        try value(name, "a position: digits without a leading zero") { LogPosition(digits: $0) }
    }

    /// A position of the log, or a time.
    func moment(_ name: String) throws(APIError) -> Moment? {
        try value(name, "a position or an RFC 3339 time") { Moment($0) }
    }

    /// A truth value; false when it was not given.
    func flag(_ name: String) throws(APIError) -> Bool {
        try value(name, "true or false") { ["true": true, "false": false][$0] } ?? false
    }

    /// How many elements the page may have, by `limit`.
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
