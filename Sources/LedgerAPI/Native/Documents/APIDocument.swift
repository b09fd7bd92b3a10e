internal import HTTP
internal import JSON
internal import Ledger
internal import LedgerWire

/// A description of routes in the format OpenAPI 3.1, rendered once.
struct APIDocument: Sendable {
    /// A described route.
    struct Entry: Sendable {
        let method: String
        let path: String
        let operation: Operation
        var isTenantScoped = false
        var requiresServedTenant = false
        var isOnAdminListener = false

        init(_ route: any Route.Type) {
            method = route.method
            path = route.path
            operation = route.operation
            isTenantScoped = route.isTenantScoped
            requiresServedTenant = route.requiresServedTenant
        }

        /// Describes a page of the admin listener.
        init(_ page: AdminAPI.Page) {
            method = "GET"
            path = page.path
            operation = page.operation
            isOnAdminListener = true
        }

        /// The parameters of the path, the query and the header.
        var parameters: [Parameter] {
            let ofPath = Parameter.ofPaths.filter { path.contains("{\($0.name)}") }
            return ofPath + operation.parameters.filter { !$0.isRefused }
                + (isOnAdminListener ? [] : [RequestName.parameter])
        }
    }

    let title: String
    let about: String
    let entries: [Entry]
    let bytes: [UInt8]

    /// Describes the routes that apps call.
    static let ofApps = APIDocument(
        title: "AccountLedger",
        about: "Sign-in, the linked identities of an account, and merges.",
        entries: RouteTable.routes.map { Entry($0) }.filter(\.operation.roles.isEmpty))

    /// Describes the routes that auditors, support, administrators and operators call.
    static let ofStaff = APIDocument(
        title: "AccountLedger for staff",
        about: "The log, the history of accounts, support, erasure, and the admin listener.",
        entries: RouteTable.routes.map { Entry($0) }.filter { !$0.operation.roles.isEmpty }
            + AdminAPI.Page.allCases.map { Entry($0) })

    private init(title: String, about: String, entries: [Entry]) {
        self.title = title
        self.about = about
        self.entries = entries
        var writer = JSONWriter(reserving: 262_144)
        Self.write(title, about, entries, to: &writer)
        bytes = writer.bytes
    }

    private static func write(
        _ title: String, _ about: String, _ entries: [Entry], to writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.member("openapi", "3.1.0")
            writer.name("info")
            writer.object { writer in
                writer.member("title", title)
                writer.member("version", "1")
                writer.member("description", about)
            }
            writer.name("servers")
            writer.array { writer in
                writer.server("/", about: "The tenant `default`")
                writer.server(
                    "/t/{tenant}", about: "Another tenant",
                    variable: (name: "tenant", value: TenantID.default.description))
            }
            writer.name("tags")
            writer.array { writer in
                for tag in Operation.Tag.allCases
                where entries.contains(where: { $0.operation.tag == tag }) {
                    writer.object { writer in
                        writer.member("name", tag.rawValue)
                        writer.member("description", tag.about)
                    }
                }
            }
            writer.name("paths")
            writer.object { paths(entries, to: &$0) }
            writer.name("components")
            writer.object { components(of: entries, to: &$0) }
        }
    }

    private static func paths(_ entries: [Entry], to writer: inout JSONWriter) {
        var written: Set<String> = []
        for first in entries where written.insert(first.path).inserted {
            writer.name(first.path)
            writer.object { writer in
                if !first.isTenantScoped {
                    writer.name("servers")
                    writer.array { writer in
                        if first.isOnAdminListener {
                            writer.server(
                                "http://{listener}", about: "The admin listener",
                                variable: (name: "listener", value: "127.0.0.1:9090"))
                        } else {
                            writer.server("/", about: "The service")
                        }
                    }
                }
                for entry in entries where entry.path == first.path {
                    writer.name(entry.method.lowercased())
                    entry.write(to: &writer)
                }
            }
        }
    }

    private static func components(of entries: [Entry], to writer: inout JSONWriter) {
        var schemas: [String: Schema] = [:]
        ErrorBody.schema.collect(into: &schemas)
        for operation in entries.map(\.operation) {
            operation.body?.schema.collect(into: &schemas)
            for answer in operation.answers { answer.schema.collect(into: &schemas) }
            for schema in operation.otherAnswers.values { schema.collect(into: &schemas) }
        }
        writer.name("schemas")
        writer.object { writer in
            for (name, schema) in schemas.sorted(by: { $0.key < $1.key }) {
                writer.name(name)
                schema.writeDefinition(to: &writer)
            }
        }
        writer.name("headers")
        writer.object { writer in
            for field in ResponseField.allCases {
                writer.name(field.rawValue)
                writer.object { writer in
                    writer.member("description", field.about)
                    writer.name("required")
                    writer.flag(true)
                    writer.name("schema")
                    field.schema.write(to: &writer)
                }
            }
        }
        writer.name("securitySchemes")
        writer.object { writer in
            for scheme in SecurityScheme.allCases {
                writer.name(scheme.rawValue)
                writer.object { writer in
                    writer.member("type", "http")
                    writer.member("scheme", "bearer")
                    writer.member("bearerFormat", scheme.format)
                    writer.member("description", scheme.about)
                }
            }
        }
    }
}

/// A header field of responses.
enum ResponseField: String, CaseIterable {
    case requestID = "X-Request-Id"
    case caching = "Cache-Control"
    case retryAfter = "Retry-After"
    case challenge = "WWW-Authenticate"
    case allow = "Allow"
    case buffering = "X-Accel-Buffering"
    case contentPolicy = "Content-Security-Policy"
    case contentTypeOptions = "X-Content-Type-Options"
    case referrerPolicy = "Referrer-Policy"

    var about: String {
        switch self {
        case .requestID: "The request's id, the client's if it sent a valid one"
        case .caching: "`no-store` unless the response may be cached"
        case .retryAfter: "The seconds until a retry can succeed"
        case .challenge: "The scheme of authentication (RFC 6750)"
        case .allow: "The methods of the path"
        case .buffering: "`no`: some proxies buffer a stream without it"
        case .contentPolicy: "Forbids the page to load anything"
        case .contentTypeOptions: "`nosniff`"
        case .referrerPolicy: "`no-referrer`"
        }
    }

    var schema: Schema {
        switch self {
        case .retryAfter: .integer(1, 1...Int64(Int32.max))
        case .requestID, .caching, .challenge, .allow, .buffering, .contentPolicy,
            .contentTypeOptions, .referrerPolicy:
            .text(rawValue)
        }
    }
}

/// A way to authenticate.
enum SecurityScheme: String, CaseIterable {
    case accessToken
    case apiKey

    var format: String {
        switch self {
        case .accessToken: "JWT"
        case .apiKey: "alk_..."
        }
    }

    var about: String {
        switch self {
        case .accessToken: "The access token of a session"
        case .apiKey: "An API key, which has one role in one tenant"
        }
    }
}

extension JSONWriter {
    fileprivate mutating func server(
        _ url: String, about: String, variable: (name: String, value: String)? = nil
    ) {
        object { writer in
            writer.member("url", url)
            writer.member("description", about)
            guard let variable else { return }
            writer.name("variables")
            writer.object { writer in
                writer.name(variable.name)
                writer.object { $0.member("default", variable.value) }
            }
        }
    }
}
