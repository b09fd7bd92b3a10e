internal import Ledger

extension Parameter {
    /// The parameters of all paths; each name means the same in every path.
    static let ofPaths: [Parameter] = [
        inPath("provider", .provider, "The configured name of the provider"),
        inPath(
            "code_provider", .codeProvider,
            "The configured name of a provider of type `email` or `phone`"),
        inPath(
            "password_provider", .passwordProvider,
            "The configured name of the provider of type `password`"),
        inPath("id", .account, "The account"),
        inPath("event_id", .event, "The event"),
        inPath("hold", .uuid(ExampleValue.hold), "The legal hold, a UUIDv7"),
        inPath("identity_id", .identity, "The identity"),
        inPath(
            "request_id", .uuid(ExampleValue.erasureRequest), "The request for an erasure"),
        inPath(
            "passkey_provider", .passkeyProvider,
            "The configured name of a provider of type `passkey`"),
        inPath("factor_id", .factor, "The second factor"),
        inPath("source", .nameSource, "The other system, such as `auth0`"),
        inPath("external_id", .externalID, "The id there, percent-encoded"),
    ]

    private static func inPath(_ name: String, _ schema: Schema, _ about: String) -> Parameter {
        Parameter(
            name: name, location: .path, schema: schema, about: about, isRequired: true,
            isInExample: true)
    }

    static let after = Parameter(
        name: "after", schema: .number, about: "The last position of the previous page")
    static let before = Parameter(
        name: "before", schema: .number,
        about: "With `order=newest`, instead of `after`: the last position of the previous page")
    static let order = Parameter(
        name: "order", schema: .choice(ReadingOrder.allCases.map(\.rawValue)),
        about: "Whether the oldest or the newest element comes first; `oldest` by default")
    static let from = Parameter(
        name: "from", schema: .moment, about: "The first position or RFC 3339 time, inclusive")
    static let to = Parameter(
        name: "to", schema: .moment, about: "The last position or RFC 3339 time, inclusive")
    static let asOf = Parameter(
        name: "as_of", schema: .moment, about: "A position or an RFC 3339 time; now by default")
    static let account = Parameter(
        name: "account", schema: .account, about: "Only this account", isInExample: true)
    static let limit = Parameter(
        name: "limit", schema: .integer(10, 1...Int64(QueryParameters.limitMax)),
        about: "The maximum number of elements; \(QueryParameters.limitDefault) by default",
        isInExample: true)
    static let disclose = Parameter(
        name: QueryParameters.disclose, schema: .choice(["true", "false"]),
        about: "Whether to return personal data, which requires a role that may see it and"
            + " \(ReasonHeader.name)")
}
