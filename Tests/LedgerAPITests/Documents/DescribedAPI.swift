import HTTP
import JSON
import Testing

@testable import LedgerAPI

/// A document of the API as a client reads it.
struct DescribedAPI: Sendable {
    static let apps = DescribedAPI(.ofApps)
    static let staff = DescribedAPI(.ofStaff)

    /// The operations by method and path, such as `GET /v1/account`.
    let operations: [String: DescribedOperation]
    let root: JSONMembers
    let schemas: SchemaChecker

    private init(_ document: APIDocument) {
        root = JSONValue(parsing: document.bytes)?.members ?? [:]
        let components = root["components"]?.members ?? [:]
        schemas = SchemaChecker(components: components)
        var operations: [String: DescribedOperation] = [:]
        for (path, methods) in root["paths"]?.members ?? [:] {
            for (method, operation) in methods.members ?? [:] where method != "servers" {
                operations["\(method.uppercased()) \(path)"] = DescribedOperation(
                    method: method.uppercased(), path: path, members: operation.members ?? [:])
            }
        }
        self.operations = operations
    }

    /// Every operation of the public listener, with the document that describes it.
    static let all: [String: (api: DescribedAPI, operation: DescribedOperation)] =
        apps.operations.mapValues { (api: apps, operation: $0) }
        .merging(staff.operations.mapValues { (api: staff, operation: $0) }) { app, _ in app }
        .filter { API.routes.contains($0.key) }

    private static let router: Router<String> = {
        var router = Router<String>()
        let surface = NativeSurface()
        for route in surface.routes {
            for path in surface.paths(of: route) {
                router.add(route.method, path, "\(route.method) \(route.path)")
            }
        }
        return router
    }()

    /// Returns the differences between a response and the description of its route.
    static func problems(with response: HTTPResponse, to request: HTTPRequest) -> [String] {
        let route: String
        switch router.match(method: request.method, path: request.path) {
        case .notFound: return []
        case .found(let number, _, _): route = router[number]
        case .methodNotAllowed(let methods, let template, _):
            guard response.status != 204 else { return [] }
            let path = template.trimmingPrefix("/t/{tenant}")
            route = "\(methods.first { $0 != "HEAD" } ?? "") \(path)"
        }
        guard let (api, operation) = all[route] else { return ["\(route) is not described"] }
        return operation.problems(with: response, in: api).map { "\(route): \($0)" }
    }
}

/// An operation of a document.
struct DescribedOperation: Sendable {
    let method: String
    let path: String
    let members: JSONMembers

    var id: String { members["operationId"]?.string ?? "" }

    var responses: JSONMembers { members["responses"]?.members ?? [:] }

    var parameters: [JSONMembers] { members["parameters"]?.array?.compactMap(\.members) ?? [] }

    /// The schema and the example of the body.
    var body: JSONMembers? {
        members["requestBody"]?.members?["content"]?.members?["application/json"]?.members
    }

    var securityScheme: String? { members["security"]?.array?.first?.members?.keys.first }

    /// The codes that a status is described with.
    func codes(_ status: Int) -> Set<String> {
        let content = responses["\(status)"]?.members?["content"]?.members
        let examples = content?["application/json"]?.members?["examples"]?.members ?? [:]
        return Set(
            examples.compactMap { _, example in
                example.members?["value"]?.members?["error"]?.members?["code"]?.string
            })
    }

    /// The described refusals, as statuses and codes.
    var refusals: Set<String> {
        responses.keys.compactMap { Int($0) }.reduce(into: []) { refusals, status in
            refusals.formUnion(codes(status).map { "\(status) \($0)" })
        }
    }

    private static func isOfCrossOriginRequests(_ name: String) -> Bool {
        name == "Vary" || name.hasPrefix("Access-Control-")
    }

    func problems(with response: HTTPResponse, in api: DescribedAPI) -> [String] {
        guard let described = responses["\(response.status)"]?.members else {
            return ["\(response.status) is not described"]
        }
        var problems: [String] = []
        let declared = Set(described["headers"]?.members?.keys ?? [])
        let sent = Set(response.headers.map(\.name)).subtracting(["Content-Type"])
            .filter { !Self.isOfCrossOriginRequests($0) }
        if sent != declared {
            problems.append(
                "\(response.status) has the fields \(sent.sorted()), not \(declared.sorted())")
        }
        let field = response.headers.first { $0.name == "Content-Type" }?.value ?? ""
        let type = String(field.prefix { $0 != ";" })
        guard let content = described["content"]?.members?[type]?.members else {
            return problems + ["\(response.status) is not described as \(type)"]
        }
        guard type == "application/json" else { return problems }
        guard let value = JSONValue(parsing: response.body) else {
            return problems + ["\(response.status) is not JSON"]
        }
        problems += api.schemas.problems(of: value, by: content["schema"] ?? .null).map {
            "\(response.status): \($0)"
        }
        let code = value.members?["error"]?.members?["code"]?.string
        if let code, !codes(response.status).contains(code) {
            problems.append("\(response.status) \(code) is not described")
        }
        return problems
    }
}
