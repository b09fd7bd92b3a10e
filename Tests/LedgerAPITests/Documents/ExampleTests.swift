import JSON
import Ledger
import LedgerTestSupport
import Testing

@testable import LedgerAPI

/// Sends the examples of the documents to the service, and tries the limits that they state.
struct ExampleTests {
    private static let routes = DescribedAPI.all.keys.sorted()
    private static let operations = DescribedAPI.all.mapValues { $0.operation }

    private func run(_ route: String) async throws -> ExampleRun {
        try await ExampleRun(try #require(Self.operations[route]))
    }

    @Test(arguments: routes)
    func `an example of a request gets the example of its response`(route: String) async throws {
        let run = try await run(route)
        let answer = try await run.send()
        try #require(answer.status == 200, "\(run.target) \(answer.body)")
        let content = run.operation.responses["200"]?.members?["content"]?.members ?? [:]
        let described = try #require(content.first { _ in true }).value.members
        guard let example = described?["example"]?.members else { return }
        let shown = members(of: .object(example), at: "")
        let answered = members(of: .object(answer.json), at: "")
        #expect(answered.isSubset(of: shown) || example.count == 0, "\(answer.body)")
    }

    /// Returns the paths of a value's members, such as `links[].provider`; objects whose members are
    /// data count as one.
    private func members(of value: JSONValue, at location: String) -> Set<String> {
        if ["entry", "details", "disclosures", "options"].contains(where: { location.hasSuffix($0) }
        ) {
            return [location]
        }
        if let elements = value.array {
            return elements.reduce(into: [location]) {
                $0.formUnion(members(of: $1, at: location + "[]"))
            }
        }
        return (value.members ?? [:]).reduce(into: [location]) { found, member in
            found.formUnion(members(of: member.value, at: "\(location).\(member.key)"))
        }
    }

    @Test(arguments: routes.filter { operations[$0]?.securityScheme == "apiKey" }, Role.allCases)
    func `the described roles may call a route, and no others`(
        route: String, role: Role
    ) async throws {
        let run = try await run(route)
        let about = run.operation.members["description"]?.string ?? ""
        let roles = about.split(separator: ".")[0]
        let answer = try await run.send(as: role)
        #expect((answer.status == 200) == roles.contains(role.rawValue), "\(answer.body)")
        if !roles.contains(role.rawValue) { #expect(answer.summary == "403 FORBIDDEN") }
    }

    @Test(arguments: routes)
    func `a server with other rules refuses the routes that say so, and no others`(
        route: String
    ) async throws {
        // With the rule, a sign-up with a password is a command, too.
        let run = try await ExampleRun(try #require(Self.operations[route])) {
            $0.confirmLater = route.contains("/sign-up/")
        }
        run.service.ledger.fail(with: .rulesDiffer)
        let answer = try await run.send()
        let expected = run.operation.codes(503).contains("RULES_DIFFER") ? 503 : 200
        #expect(answer.status == expected, "\(answer.body)")
    }

    @Test(arguments: routes)
    func `a route wants the described authentication`(route: String) async throws {
        let run = try await run(route)
        let answer = try await run.service.send(
            run.operation.method, run.target, run.body, headers: run.headers)
        #expect((answer.status == 401) == (run.operation.securityScheme != nil), "\(answer.body)")
    }

    @Test(arguments: routes.filter { operations[$0]?.body != nil })
    func `the limits of bodies are those of the document`(route: String) async throws {
        let run = try await run(route)
        let content = try #require(run.operation.body)
        let reference = content["schema"]?.members?["$ref"]?.string ?? ""
        let api = try #require(DescribedAPI.all[route]).api
        let schema = try #require(api.schemas.schema(at: reference))
        // The type of the example's provider is oidc, which asks for the ID token; without the access token of the
        // other account, a merge asks for the provider.
        let stated = schema["required"]?.array?.compactMap(\.string) ?? []
        let required = stated + ["id_token", "enrolment_token", "provider"]
        let example = content["example"]?.members ?? [:]
        // The members of other types' credentials are ignored.
        let others = [
            "access_token", "anonymous_secret", "attestation", "challenge_id", "code",
            "credential", "device_token", "email", "password",
        ]
        for (name, property) in schema["properties"]?.members ?? [:]
        where !others.contains(name) || stated.contains(name) {
            func send(_ text: String?) async throws -> (flaw: String?, message: String) {
                // A changed password or address ends the session.
                let endsSession = route.hasSuffix("/password") || route.contains("/addresses/")
                let run = endsSession ? try await self.run(route) : run
                var parts = example.filter { $0.key != name }.map {
                    "\"\($0.key)\":\(run.live(ExampleRun.text($0.value)))"
                }
                if let text { parts.append("\"\(name)\":\(text)") }
                let answer = try await run.send(body: "{\(parts.joined(separator: ","))}")
                let details = answer.json["error"]?.members?["details"]?.members
                return (flaw: details?["field"]?.string, message: answer.message ?? "")
            }
            #expect(try await send("[1]").flaw == name, "\(name)")
            let isRequired = required.contains(name)
            #expect(try await send(nil).flaw == (isRequired ? name : nil), "\(name)")
            #expect(try await send("null").flaw == (isRequired ? name : nil), "\(name)")
            guard let limit = property.members?["maxLength"]?.number else { continue }
            func text(_ count: Double) -> String {
                "\"" + String(repeating: "x", count: Int(count)) + "\""
            }
            let message = "\(name) must have at most \(Int(limit)) bytes"
            #expect(try await send(text(limit)).message != message)
            #expect(try await send(text(limit + 1)).message == message)
        }
    }

    @Test(arguments: routes)
    func `the rules of parameters are those of the document`(route: String) async throws {
        let run = try await run(route)
        for parameter in run.operation.parameters {
            let name = try #require(parameter["name"]?.string)
            let schema = try #require(parameter["schema"]?.members)
            switch parameter["in"]?.string {
            case "query":
                let path = run.target.split(separator: "?")
                let others = (path.count > 1 ? path[1] : "").split(separator: "&").filter {
                    !$0.hasPrefix("\(name)=")
                }
                func flaw(_ text: String?) async throws -> String? {
                    let query = others.map(String.init) + (text.map { ["\(name)=\($0)"] } ?? [])
                    let answer = try await run.send(
                        target: path[0] + "?" + query.joined(separator: "&"))
                    let details = answer.json["error"]?.members?["details"]?.members
                    return answer.status == 400 ? details?["parameter"]?.string : nil
                }
                // Any text is a plan digest or a search term; an unknown digest has changed.
                if schema["pattern"] != nil || schema["enum"] != nil || schema["format"] != nil {
                    #expect(try await flaw("%20") == name, "\(name)")
                }
                if let limit = schema["maximum"]?.number {
                    #expect(try await flaw("\(Int(limit))") == nil)
                    #expect(try await flaw("\(Int(limit) + 1)") == name)
                    #expect(try await flaw("0") == name)
                }
                if parameter["required"] == .bool(true) {
                    #expect(try await flaw(nil) == name, "\(name)")
                }
            case "header" where name != RequestName.header:
                func flaw(_ text: String?) async throws -> String? {
                    let headers = run.headers.filter { $0.name != name }
                    let answer = try await run.send(
                        headers: headers + (text.map { [(name: name, value: $0)] } ?? []))
                    let details = answer.json["error"]?.members?["details"]?.members
                    return answer.status == 400 ? details?["header"]?.string : nil
                }
                #expect(try await flaw("\u{E9}") == name, "\(name)")
                if let limit = schema["maxLength"]?.number {
                    let longest = String(repeating: "x", count: Int(limit))
                    #expect(try await flaw(longest + "x") == name, "\(name)")
                    #expect(try await flaw(longest) == nil, "\(name)")
                }
                let isRequired = parameter["required"] == .bool(true)
                #expect(try await flaw(nil) == (isRequired ? name : nil), "\(name)")
            default: break
            }
        }
    }
}
