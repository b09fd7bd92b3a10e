import Foundation
import LedgerTestSupport
import Testing

/// People of the staff at real servers: their sessions, and their traces in the logs.
@Suite(.timeLimit(.minutes(10))) struct StaffTests {
    private static let development = ["LEDGER_MODE": "development", "LEDGER_PROVIDERS": ""]

    /// Signs Sam in; returns the header fields of the console's requests, and the id.
    private func signIn(
        _ client: WireClient, as role: String
    ) async throws -> (fields: [String: String], id: String) {
        var browser = FlowBrowser(client: client)
        let page = try await browser.open("\(client.base)/console/sign-in")
        let back = try await browser.end(page, at: "staff", ["name": "Sam Ample", "role": role])
        #expect(back == "./")
        let name = "__Host-ledger-console"
        let cookie = "\(name)=\(try #require(browser.cookies[name]))"
        let session = try await client.send(
            "GET", "/console/session", headers: ["Cookie": cookie], body: nil)
        let staff = try #require(session.json["staff"] as? [String: any Sendable])
        let token = try #require(session.text("csrf_token"))
        return (
            ["Cookie": cookie, "Ledger-CSRF": token], try #require(staff["id"] as? String)
        )
    }

    @Test func `every process knows a session, and its end at once`() async throws {
        try await Deployment.with(settings: Self.development) { deployment in
            let clients = [
                try await deployment.serve().client, try await deployment.serve().client,
            ]
            let (fields, _) = try await signIn(clients[0], as: "auditor")
            func statuses() async throws -> [Int] {
                var statuses: [Int] = []
                for client in clients {
                    let answer = try await client.send(
                        "GET", "/v1/events?limit=1", headers: fields, body: nil)
                    statuses.append(answer.status)
                }
                return statuses
            }
            #expect(try await statuses() == [200, 200])
            let headers = fields.merging(["Content-Type": "application/json"]) { $1 }
            let ended = try await clients[1].send(
                "POST", "/console/sign-out", headers: headers, body: Data("{}".utf8))
            #expect(ended.status == 200)
            #expect(try await statuses() == [401, 401])
        }
    }

    @Test func `a change in the console names the person by an id, in both logs and their proofs`()
        async throws
    {
        try await Deployment.with(settings: Self.development) { deployment in
            let server = try await deployment.serve()
            let client = server.client
            let token = try await client.send(
                "GET", "/dev/idp/google/token?name=ada", headers: [:], body: nil)
            let ada = try await client.call(
                "POST", "/v1/auth/sign-in/google",
                ["id_token": try #require(token.text("id_token"))])
            let account = try #require(ada.text("user_id"))
            let (fields, id) = try await signIn(client, as: "admin")
            let reason = fields.merging([
                "Ledger-Reason": "UTF-8''F%C3%A4lle%20f%C3%BCr%20Ada", "X-Request-Id": "click-1",
            ]) { $1 }
            let held = try await client.send(
                "POST", "/v1/accounts/\(account)/holds", headers: reason, body: nil)
            #expect(held.status == 200, "\(held)")
            // The checkpoint below is one of all events but the last one.
            _ = try await client.call(
                "POST", "/v1/auth/sign-in/google",
                ["id_token": try #require(token.text("id_token"))])
            let timeline = try await client.send(
                "GET", "/v1/accounts/\(account)/timeline", headers: fields, body: nil)
            let text = String(decoding: timeline.body, as: UTF8.self)
            #expect(text.contains(#""actor":{"kind":"staff","staff":"\#(id)","role":"admin"}"#))
            let events = try await client.send(
                "GET", "/v1/events?type=LegalHoldSet", headers: fields, body: nil)
            #expect(
                String(decoding: events.body, as: UTF8.self).contains(
                    #""actor":{"id":"\#(id)","role":"admin","type":"staff"}"#))
            try await server.stop()
            let accesses = try await deployment.tool.run([
                "access-log", "--principal", "staff:\(id)",
            ])
            #expect(accesses.output.contains("account.hold"), "\(accesses.errors)")
            #expect(accesses.output.contains("Fälle für Ada"))
            let shown = try await deployment.tool.run(["timeline", account])
            #expect(shown.output.contains("admin, staff:\(id)"), "\(shown.output)\(shown.errors)")
            #expect(try await deployment.tool.run(["verify"]).status == 0)
            let bundle = deployment.path("bundle.tar")
            let story = ExportStory(deployment, ada: Device(client))
            let sealed = try await story.seal(every: 100)
            let export = try await deployment.tool.run(["export", "--all", "--output", bundle])
            #expect(export.status == 0, "\(export.errors)")
            let offline = try await CommandLineTool(environment: [:])
                .run(["verify", "--offline", bundle, "--vkey", sealed.vkey])
            #expect(offline.status == 0, "\(offline.output)\(offline.errors)")
            let replayed = try await deployment.tool.run(["replay"])
            for text in [replayed.output, accesses.output, shown.output, server.log] {
                #expect(!text.contains("Sam"))
            }
        }
    }

    @Test(arguments: [
        ("missing", nil, "can't read the file"),
        (#"{"issuer":"https://id.example"}"#, nil, "client_id is missing"),
        (
            #"{"issuer":"https://id.example","client_id":"l","client_secret_file":"SECRET","#
                + #""roles":{"a":"owner"}}"#, nil, "roles.a must be"
        ),
        (
            #"{"issuer":"https://id.example","client_id":"l","client_secret_file":"SECRET","#
                + #""roles":{"a":"admin"}}"#, nil, "client_secret_file: can't read the file"
        ),
        (
            #"{"issuer":"https://id.example","client_id":"l","client_secret_file":"SECRET","#
                + #""roles":{"a":"admin"}}"#, "\n",
            "client_secret_file: the file must hold one line"
        ),
        (
            #"{"issuer":"https://id.example","client_id":"l","client_secret_file":"SECRET","#
                + #""roles":{"a":"admin"}}"#, "s3cret",
            "LEDGER_STAFF is set, but LEDGER_PUBLIC_URL is not set"
        ),
    ]) func `a server does not start with a file that it can't use`(
        text: String, secret: String?, fault: String
    ) async throws {
        try await Deployment.with { deployment in
            let path = deployment.path("secret")
            if let secret { _ = try deployment.write(secret, to: "secret") }
            let file =
                text == "missing"
                ? deployment.path("missing")
                : try deployment.write(text.replacing("SECRET", with: path), to: "staff.json")
            let environment = deployment.tool.environment.merging(["LEDGER_STAFF": file]) { $1 }
            let refused = try await CommandLineTool(environment: environment).run(["serve"])
            #expect(refused.status != 0)
            #expect(refused.errors.contains(fault), "\(refused.errors)")
            #expect(refused.errors.contains("LEDGER_STAFF") && !refused.errors.contains("s3cret"))
        }
    }
}
