internal import Ledger

/// The description of a route in the API's document, beside the route's method and path.
struct Operation: Sendable {
    /// The callers of a route.
    enum Access: Sendable {
        case anyone
        /// Anyone for some bodies, and an account holder for others.
        case anyoneOrAccountHolder
        case accountHolder
        case principal(Set<Role>)
    }

    /// The section of the document.
    enum Tag: String, CaseIterable, Sendable {
        case signIn = "sign-in"
        case account
        case merges
        case log
        case accounts
        case erasure
        case support
        case service

        /// The subject of the section.
        var about: String {
            switch self {
            case .signIn: "Sessions of account holders"
            case .account: "The account of the caller"
            case .merges: "Merging two accounts of one person"
            case .log: "The log, its proofs and the access log"
            case .accounts: "The history of any account"
            case .erasure: "Erasures and legal holds"
            case .support: "Changes of accounts by support"
            case .service: "The service itself"
            }
        }
    }

    /// The content of a successful response, in one media type.
    struct Answer: Sendable {
        let mediaType: String
        let schema: Schema
    }

    /// The name of the operation in generated clients.
    let id: String
    let tag: Tag
    /// One line about what it does.
    let summary: String
    var about: String?
    let access: Access
    /// The parameters of the query and the header fields that the route reads.
    var parameters: [Parameter] = []
    var body: (any BodyForm.Type)?
    /// The responses with status 200; the first is the default.
    let answers: [Answer]
    /// The errors that only this route and routes like it answer.
    var refusals: [APIError] = []
    /// A response of another status that is no error, such as an unready service's, or of what is not done yet.
    var otherAnswers: [Int: Schema] = [:]
    /// Header fields of the response beside those of every response.
    var headers: [String] = []

    /// The roles that may call it; empty unless it takes an API key.
    var roles: Set<Role> {
        if case .principal(let roles) = access { roles } else { [] }
    }

    /// Whether everyone, an account holder or a principal calls it, in words.
    var callers: String {
        switch access {
        case .anyone: "anyone"
        case .anyoneOrAccountHolder: "anyone, or an account holder, by access token"
        case .accountHolder: "an account holder, by access token"
        case .principal(let roles):
            "an API key with the role "
                + roles.map(\.rawValue).sorted().joined(separator: ", ")
        }
    }
}

extension [Operation.Answer] {
    static func json(_ schema: Schema) -> Self {
        [Operation.Answer(mediaType: "application/json", schema: schema)]
    }

    static func text(_ mediaType: String, _ example: String) -> Self {
        [Operation.Answer(mediaType: mediaType, schema: .text(example))]
    }
}

/// A parameter of a path or a query, or a header field of a request.
struct Parameter: Sendable {
    /// The part of the request that holds a parameter.
    enum Location: String, Sendable {
        case path
        case query
        case header
        case cookie
    }

    let name: String
    var location = Location.query
    let schema: Schema
    let about: String
    var isRequired = false
    /// Whether the example of the operation has it.
    var isInExample = false
    /// Whether requests must not have it, which OpenAPI can only say in words.
    var isRefused = false

    /// The same parameter, which requests must have.
    var required: Parameter {
        var parameter = self
        parameter.isRequired = true
        parameter.isInExample = true
        return parameter
    }

    /// Returns the same parameter with another description.
    func about(_ about: String) -> Parameter {
        Parameter(
            name: name, location: location, schema: schema, about: about, isRequired: isRequired,
            isInExample: isInExample)
    }
}

/// The body of a request: the one description that its reader and the document use.
protocol BodyForm: Sendable {
    /// The name of its schema.
    static var name: String { get }
    /// The members that the route reads.
    static var members: [any BodyMember] { get }
    /// Whether an empty body stands for one without members.
    static var mayBeEmpty: Bool { get }
}

extension BodyForm {
    static var mayBeEmpty: Bool { false }

    static var schema: Schema {
        .object(
            name,
            members.map { member in
                var property = Property(
                    name: member.name, schema: member.schema, isRequired: member.isRequired,
                    about: member.about)
                property.isInExample = member.isInExample
                return property
            })
    }
}
