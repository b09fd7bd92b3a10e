import Foundation
import JSON
import Testing

@testable import LedgerAPI

/// Compares the types in the comments of the JavaScript client with the documents of the API.
struct JavaScriptTypeTests {
    /// A method of the client with the operation that it calls.
    private struct Method {
        let name: String
        let part: JSDoc.Part
        let api: DescribedAPI
        let operation: DescribedOperation

        /// The types of the parameters that become inputs of the operation.
        var inputs: [String] {
            part.tags.filter { $0.kind == "param" && !$0.type.contains("Options") }.map(\.type)
        }
    }

    private let client: JSDoc
    private let methods: [Method]

    init() throws {
        let root = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
            url.deletingLastPathComponent()
        }
        let file = root.appendingPathComponent("clients/javascript/account-ledger.js")
        client = JSDoc(try String(contentsOf: file, encoding: .utf8))
        methods = try client.parts.compactMap { part in
            guard let path = part.code.firstMatch(of: /["`](\/v1\/[^"`]*)["`]/)?.output.1 else {
                return nil
            }
            let method = try #require(part.code.firstMatch(of: /"(GET|POST|PUT|DELETE)"/)).output.1
            let template = path.replacing(/\$\{segment\(\w+\)\}/, with: "{}")
                .replacing("${query}", with: "")
            let found = try #require(
                DescribedAPI.all.first { route, _ in
                    route.replacing(/\{\w+\}/, with: "{}") == "\(method) \(template)"
                }, "\(method) \(path)")
            return Method(
                name: try #require(part.function), part: part, api: found.value.api,
                operation: found.value.operation)
        }
    }

    @Test func `the client has methods for these operations`() {
        #expect(
            methods.map(\.name) == [
                "signIn", "finishSignIn", "sendSecondFactorCode", "factors", "beginFactor",
                "beginPasskeyFactor", "beginPasskeySecondStep", "enrolFactor",
                "removeFactor", "keepFactor", "renewRecoveryCodes", "sendCode", "sendAccountCode",
                "beginSignUp", "beginPasswordReset", "completePasswordReset", "changePassword",
                "changeAddress", "beginAddressReturn", "completeAddressReturn",
                "beginPasskeySignUp", "beginPasskeySignIn", "beginPasskeyLink",
                "beginPasskeyMerge", "providers", "beginFlow",
                "signOut",
                "account", "keepIdentity", "nameIdentity", "activity", "link", "unlink",
                "previewMerge", "merge", "#renew", "previewMerge", "mergeAccounts",
                "previewUndo", "undoMerge",
            ])
    }

    @Test func `an argument has the members of the request`() {
        for method in methods {
            var given = method.inputs.reduce(MemberPaths()) {
                $0.and(client.members(of: $1))
            }
            if method.name == "#renew" {
                // It gets the whole stored session, and sends a member of it.
                #expect(method.part.code.contains("body: { refresh_token: stored.refresh_token }"))
                given = MemberPaths(isRequired: ["refresh_token": true])
            }
            var described = method.api.schemas.members(
                of: method.operation.body?["schema"] ?? .null)
            for parameter in method.operation.parameters {
                guard let name = parameter["name"]?.string else { continue }
                let isRequired = parameter["required"] == .bool(true)
                switch (parameter["in"]?.string, name) {
                case ("query", _): described.isRequired[name] = isRequired
                // It stands in the field or in the body, and every method of support needs it.
                case ("header", "Ledger-Reason"): described.isRequired["reason"] = true
                default: break
                }
            }
            let differences = given.differences(from: described)
            #expect(differences.isEmpty, "\(method.name): \(differences)")
        }
    }

    @Test func `a result has the members of the response`() throws {
        // A session is kept in the store, except for the facts about the account.
        let session = try #require(client.parts.first { $0.function == "sessionOf" })
        let stored = client.members(of: try #require(session.tags.first).type)
        for method in methods where method.name != "#renew" {
            let content = method.operation.responses["200"]?.members?["content"]?.members
            var described = method.api.schemas.members(
                of: content?["application/json"]?.members?["schema"] ?? .null)
            let type = try #require(method.part.tags.first { $0.kind == "returns" }).type
            var shown = client.members(of: type)
            if method.name == "beginSignUp" {
                let created = method.operation.responses["201"]?.members?["content"]?.members
                described = described.or(
                    method.api.schemas.members(
                        of: created?["application/json"]?.members?["schema"] ?? .null))
                described.isRequired["token_type"] = nil
                shown = client.members(of: "SentCode")
                    .or(client.members(of: "SignedIn").and(stored))
            }
            let requests = [
                "undoMerge": (done: "Undone", request: "UndoRequest"),
                "mergeAccounts": (done: "Merged", request: "MergeRequest"),
            ]
            if let results = requests[method.name] {
                let asked = method.operation.responses["202"]?.members?["content"]?.members
                described = described.or(
                    method.api.schemas.members(
                        of: asked?["application/json"]?.members?["schema"] ?? .null))
                shown = client.members(of: results.done).or(client.members(of: results.request))
            }
            if method.name == "enrolFactor" {
                described.isRequired = described.isRequired.filter {
                    !$0.key.hasPrefix("session")
                }
            }
            if ["signIn", "finishSignIn", "changePassword", "changeAddress"].contains(method.name) {
                shown = shown.and(stored)
                // Always `Bearer`, as which the client sends it.
                described.isRequired["token_type"] = nil
            }
            let differences = shown.differences(from: described)
            #expect(differences.isEmpty, "\(method.name): \(differences)")
        }
    }

    @Test func `the error codes are those of the operations that the client calls`() throws {
        let union = try #require(client.texts["ServerErrorCode"])
        let codes = union.matches(of: /"(\w+)"/).map { String($0.output.1) }
        #expect(Set(codes).count == codes.count)
        let described = methods.reduce(into: Set<String>()) { found, method in
            for status in method.operation.responses.keys.compactMap({ Int($0) }) {
                found.formUnion(method.operation.codes(status))
            }
        }
        #expect(Set(codes).subtracting(described).sorted() == [], "surplus")
        #expect(described.subtracting(codes).sorted() == [], "missing")
    }

    @Test func `a command may have a key where the operation knows one`() {
        for method in methods
        where method.part.tags.contains(where: { $0.type.contains("CommandOptions") }) {
            let names = method.operation.parameters.compactMap { $0["name"]?.string }
            #expect(names.contains("Idempotency-Key"), "\(method.name)")
        }
    }
}
