import Cryptography
import Encodings
import HTTP
import JSON
import Ledger
import LedgerTestSupport
import Testing

@testable import LedgerAPI

/// The documents of the API and their page.
struct DocumentTests {
    private static let documents = [DescribedAPI.apps, .staff]
    private static let paths = ["/openapi.json", "/v1/audit/openapi.json", "/docs"]

    @Test func `the documents describe every route once, and no others`() {
        let apps = Set(DescribedAPI.apps.operations.keys)
        let staff = Set(DescribedAPI.staff.operations.keys)
        let admin = Set(AdminAPI.Page.allCases.map { "GET \($0.path)" })
        let pages = RouteTable.pages.map { "\($0.method) \($0.path)" }
        #expect(apps.union(staff.subtracting(admin)) == Set(API.routes).subtracting(pages))
        #expect(apps.intersection(staff.subtracting(admin)).isEmpty)
        #expect(admin.isSubset(of: staff))
    }

    @Test func `the routes of the document for apps take no API key`() {
        for (route, operation) in DescribedAPI.apps.operations {
            #expect(operation.securityScheme != "apiKey", "\(route)")
        }
        for (route, operation) in DescribedAPI.staff.operations
        where !AdminAPI.Page.allCases.contains(where: { route == "GET \($0.path)" }) {
            #expect(operation.securityScheme == "apiKey", "\(route)")
        }
    }

    @Test func `operations have ids of their own, known tags, and the parameters of their paths`()
        throws
    {
        for document in Self.documents {
            let tags = document.root["tags"]?.array?.compactMap { $0.members?["name"]?.string }
            let ids = document.operations.values.map(\.id)
            #expect(Set(ids).count == ids.count && !ids.contains(""))
            for (route, operation) in document.operations {
                let tag = try #require(operation.members["tags"]?.array?.first?.string)
                #expect(tags?.contains(tag) == true, "\(route)")
                let named = operation.parameters.filter { $0["in"]?.string == "path" }
                    .compactMap { $0["name"]?.string }
                let captures = operation.path.matches(of: /\{([a-z_]+)\}/).map {
                    String($0.output.1)
                }
                #expect(Set(named) == Set(captures), "\(route)")
            }
        }
    }

    @Test func `every example matches its schema, and every object has a name`() throws {
        for document in Self.documents {
            let components = try #require(document.schemas.components["schemas"]?.members)
            for (name, schema) in components {
                expectNames(in: schema, at: name)
            }
            for (route, operation) in document.operations {
                var contents = [operation.body].compactMap(\.self)
                for (_, response) in operation.responses {
                    let content = response.members?["content"]?.members ?? [:]
                    contents += content.compactMap { $0.value.members }
                }
                for content in contents {
                    let schema = try #require(content["schema"])
                    let named = content["examples"]?.members ?? [:]
                    var examples = named.compactMap { $0.value.members?["value"] }
                    if let example = content["example"] { examples.append(example) }
                    #expect(!examples.isEmpty || content["schema"]?.members?["anyOf"] != nil)
                    for example in examples {
                        let problems = document.schemas.problems(of: example, by: schema)
                        #expect(problems.isEmpty, "\(route): \(problems)")
                    }
                }
                for parameter in operation.parameters {
                    guard let example = parameter["example"] else { continue }
                    let schema = try #require(parameter["schema"])
                    let problems = document.schemas.problems(of: example, by: schema)
                    #expect(problems.isEmpty, "\(route): \(problems)")
                }
            }
        }
    }

    @Test(arguments: [
        ("/v1/accounts/{id}/merge", "merge"), ("/v1/merges/{event_id}/undo", "unmerge"),
        ("/v1/accounts/{id}/identities/{identity_id}/relink", "relink"),
    ])
    func `an answer has the event that was appended, and that of the preview has none`(
        path: String, member: String
    ) throws {
        func isRequired(_ path: String) throws -> Bool? {
            let operation = try #require(DescribedAPI.staff.operations["POST \(path)"])
            let content = operation.responses["200"]?.members?["content"]?.members
            let schema = content?["application/json"]?.members?["schema"] ?? .null
            return DescribedAPI.staff.schemas.members(of: schema).isRequired[member]
        }
        #expect(try isRequired(path) == true)
        #expect(try isRequired("\(path)/preview") == nil)
    }

    @Test func `a preview, which changes nothing, has no idempotency key`() {
        for (route, (_, operation)) in DescribedAPI.all where route.hasSuffix("/preview") {
            let names = operation.parameters.compactMap { $0["name"]?.string }
            #expect(!names.contains("Idempotency-Key"), "\(route)")
        }
    }

    @Test
    func `a route whose answer has a secret refuses an idempotency key, and its document says so`()
        async throws
    {
        let secrets: Set = [
            "access_token", "refresh_token", "anonymous_secret", "secret", "recovery_codes",
        ]
        let routes = DescribedAPI.all.filter { _, described in
            let content = described.operation.responses["200"]?.members?["content"]?.members
            let schema = content?["application/json"]?.members?["schema"] ?? .null
            let members = described.api.schemas.members(of: schema)
            return !secrets.isDisjoint(with: members.isRequired.keys)
        }
        #expect(
            routes.keys.sorted() == [
                "POST /v1/account/addresses/{code_provider}",
                "POST /v1/account/factor-enrolments", "POST /v1/account/factors",
                "POST /v1/account/password", "POST /v1/account/recovery-codes",
                "POST /v1/auth/refresh", "POST /v1/auth/second-factor",
                "POST /v1/auth/sign-in/{provider}",
            ])
        for (route, described) in routes {
            let operation = described.operation
            let names = operation.parameters.compactMap { $0["name"]?.string }
            #expect(!names.contains("Idempotency-Key"), "\(route)")
            let about = operation.members["description"]?.string ?? ""
            #expect(about.contains("`Idempotency-Key`"), "\(route)")
            let run = try await ExampleRun(operation)
            let count = run.service.ledger.commandCount
            for key in ["k", "", "é"] {
                let answer = try await run.send(
                    headers: run.headers + [(name: "Idempotency-Key", value: key)])
                #expect(answer.summary == "400 INVALID_REQUEST", "\(route)")
                #expect(answer.body.contains(#""details":{"header":"Idempotency-Key"}"#))
                let examples = operation.responses["400"]?.members?["content"]?.members
                #expect(
                    ExampleRun.text(.object(examples ?? [:])).contains(answer.message ?? "?"))
            }
            #expect(run.service.ledger.commandCount == count)
            #expect(try await run.send().status == 200, "\(route)")
        }
    }

    /// A generated client makes a class of each object, which needs a name.
    private func expectNames(in schema: JSONValue, at location: String) {
        for (name, property) in schema.members?["properties"]?.members ?? [:] {
            let inner = property.members?["items"] ?? property
            #expect(inner.members?["properties"] == nil, "\(location).\(name) has no name")
        }
    }

    @Test(arguments: HTTPRejection.allCases)
    func `what the server rejects before it is complete is described for every route`(
        rejection: HTTPRejection
    ) throws {
        let response = try TestService().api.reject(rejection, [:])
        for (route, (api, operation)) in DescribedAPI.all {
            let problems = operation.problems(with: response, in: api)
            #expect(problems.isEmpty, "\(route): \(problems)")
        }
    }

    @Test func `apps and people get their documents without a token`() async throws {
        let service = try TestService()
        let document = try await service.respond("GET", "/openapi.json")
        #expect(document.body == APIDocument.ofApps.bytes)
        let page = try await service.send("GET", "/docs")
        #expect(page["Content-Type"] == "text/html; charset=utf-8")
        for headers in [Answer(document), page] {
            #expect(headers["Cache-Control"] == "public, max-age=300")
        }
        #expect(try await service.send("GET", "/t/default/docs").status == 404)
    }

    @Test func `staff get theirs with any key, and it is recorded`() async throws {
        let service = try TestService()
        let path = "/v1/audit/openapi.json"
        for role in Role.allCases {
            let response = try await service.send(
                "GET", path, token: try service.audit.key(role))
            #expect(response.body == String(decoding: APIDocument.ofStaff.bytes, as: UTF8.self))
        }
        #expect(
            service.audit.access.accesses().map(\.action) == [
                "api.document", "api.document", "api.document",
            ])
        let person = try await service.signIn("apple", "ada")
        let answer = try await service.send("GET", path, token: person.accessToken)
        #expect(answer.summary == "401 INVALID_API_KEY")
    }

    @Test func `documents that are switched off are not there`() async throws {
        let service = try TestService { $0.servesDocuments = false }
        let key = try service.audit.key(.admin)
        for path in Self.paths {
            for method in ["GET", "POST", "OPTIONS"] {
                let request = try #require(
                    HTTPRequest(
                        method: method, target: path,
                        headers: ["Authorization": "Bearer \(key)"], body: []))
                #expect(Answer(await service.api.handle(request)).summary == "404 NOT_FOUND")
            }
        }
        #expect(try await service.send("GET", "/healthz").status == 200)
    }

    @Test func `the page has every route, and the browser lets it load nothing`() async throws {
        let page = try await TestService().send("GET", "/docs")
        for (route, operation) in DescribedAPI.apps.operations {
            #expect(page.body.contains("<code>\(route)</code>"), "\(route)")
            #expect(page.body.contains("id=\"\(operation.id)\""), "\(route)")
        }
        let style = try #require(page.body.firstMatch(of: /<style>([^<]*)<\/style>/)?.output.1)
        let digest = Base64.encode(SHA256.hash(String(style)))
        #expect(
            page["Content-Security-Policy"]
                == "default-src 'none'; style-src 'sha256-\(digest)'; base-uri 'none';"
                + " form-action 'none'; frame-ancestors 'none'")
        #expect(page["X-Content-Type-Options"] == "nosniff")
        let elements = page.body.replacing(/<pre>[^<]*<\/pre>/, with: "")
        for word in ["<script", "src=", "<link", "url(", "@import", "http:", "https:", "style="] {
            #expect(!elements.contains(word), "\(word)")
        }
    }

    @Test func `the pages of the admin listener are described`() async throws {
        for isReady in [true, false] {
            let admin = AdminAPI(
                metrics: { "# TYPE up gauge\nup 1\n" },
                readiness: { Readiness(checks: [.init("database", isReady: isReady)]) })
            for page in AdminAPI.Page.allCases {
                let operation = try #require(
                    DescribedAPI.staff.operations["GET \(page.path)"])
                for method in ["GET", "POST"] {
                    let request = try #require(
                        HTTPRequest(method: method, target: page.path, headers: [:], body: []))
                    let problems = operation.problems(
                        with: await admin.handle(request), in: .staff)
                    #expect(problems.isEmpty, "\(method) \(page.path): \(problems)")
                }
            }
        }
    }
}
