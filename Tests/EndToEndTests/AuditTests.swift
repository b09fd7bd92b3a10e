import Foundation
import LedgerTestSupport
import Testing
import TransparencyLog

/// Auditors, support and administrators, from the command line to the access log.
@Suite struct AuditTests {
    @Test func `a key is made, used, seen in the access log, and ended`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let key = try await deployment.apiKey("auditor", label: "Big Four, 2026")
            let first = try await server.client.call("GET", "/v1/access-log", token: key)
            #expect(first.status == 200)
            let listed = try await deployment.tool.run(["keys", "api", "list"])
            let columns = listed.output.split(separator: "\t").map(String.init)
            try #require(columns.count == 6, "\(listed.output)")
            #expect(columns[1...2] == ["auditor", "good"])
            #expect(!listed.output.contains(key))
            let revoked = try await deployment.tool.run(["keys", "api", "revoke", columns[0]])
            #expect(revoked.status == 0, "\(revoked.errors)")
            let second = try await server.client.call("GET", "/v1/access-log", token: key)
            #expect(second.status == 401)
            #expect(second.errorCode == "INVALID_API_KEY")
            #expect(second.header("WWW-Authenticate") == "Bearer error=\"invalid_token\"")
            let log = try await deployment.tool.run(["access-log"])
            #expect(log.status == 0, "\(log.errors)")
            let actions = log.output.split(separator: "\n").map { $0.split(separator: "\t")[4] }
            #expect(actions == ["api_key.create", "access_log.list", "api_key.revoke"])
            #expect(!server.log.contains(key))
            let again = try await deployment.tool.run(["keys", "api", "revoke", columns[0]])
            #expect(again.output.contains("already"))
        }
    }

    @Test func `a leaked key is revoked by its leaked part`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let tool = deployment.tool
            for cut in [26, 27, 70] {
                let made = try await tool.run(
                    ["keys", "api", "create", "--role", "auditor", "--label", "l"])
                let key = String(made.output.dropLast())
                try #require(key.hasPrefix("alk_") && key.utf8.count == 70, "\(made.output)")
                let listed = try await tool.run(["keys", "api", "list"])
                let id = try #require(
                    listed.output.split(separator: "\n").map { $0.prefix { $0 != "\t" } }
                        .first { made.errors.contains($0) }, "the id is told: \(made.errors)")
                #expect(!made.errors.contains(key))
                let known = try await server.client.call("GET", "/v1/access-log", token: key)
                #expect(known.status == 200)
                let revoked = try await tool.run(
                    ["keys", "api", "revoke", String(key.prefix(cut))])
                #expect(revoked.status == 0, "\(revoked.errors)")
                #expect(revoked.output == "API key \(id) is revoked\n")
                let refused = try await server.client.call("GET", "/v1/access-log", token: key)
                #expect(refused.errorCode == "INVALID_API_KEY")
                let again = try await tool.run(["keys", "api", "revoke", key])
                let wrong = try await tool.run(["keys", "api", "revoke", "x" + key])
                #expect(again.output.contains("already") && wrong.status == 64)
                for said in [revoked, again, wrong] {
                    #expect(!(said.output + said.errors).contains(key.suffix(43)))
                }
                let log = try await tool.run(["access-log"])
                #expect(log.output.contains(id) && !log.output.contains(key.suffix(43)))
            }
        }
    }

    @Test func `a key has a role, a label and a tenant that exist, and expires`() async throws {
        try await Deployment.with { deployment in
            _ = try await deployment.serve()
            let good = ["keys", "api", "create", "--role", "support", "--label", "l"]
            for wrong in [
                ["keys", "api", "create"], ["keys", "api", "create", "--role", "root"],
                good + ["--expires", "2020-01-01T00:00:00Z"], good + ["--expires", "tomorrow"],
                ["keys", "api", "create", "--role", "support", "--label", "a\u{1B}b"],
                ["keys", "api", "revoke", "alk_x"],
            ] {
                let outcome = try await deployment.tool.run(wrong)
                #expect(outcome.status == 64, "\(wrong): \(outcome.errors)")
            }
            #expect(try await deployment.tool.run(good + ["--tenant", "nobody"]).status == 1)
            let short = try await deployment.tool.run(good + ["--expires", "2126-01-01T00:00:00Z"])
            #expect(short.status == 0)
            #expect(short.output.hasPrefix("alk_"))
            let listed = try await deployment.tool.run(["keys", "api", "list"])
            #expect(listed.output.contains("2126-01-01T00:00:00.000000Z"))
        }
    }

    private static let origin = "ledger.example.com/accounts"

    @Test func `an auditor follows the log of two servers and misses nothing`() async throws {
        let people = 24
        try await Deployment.with { deployment in
            let servers = [try await deployment.serve(), try await deployment.serve()]
            let key = try await deployment.apiKey("auditor")
            let google = deployment.google
            let signIns = Task {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for lane in 0..<4 {
                        group.addTask {
                            for number in 0..<people / 4 {
                                var device = Device(servers[lane % 2].client)
                                let answer = try await device.signIn(
                                    google, as: "s\(lane)-\(number)")
                                #expect(answer.status == 200)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            var seen: [String] = []
            var path = "/v1/events?limit=50"
            try await eventually("every event to be seen", within: .seconds(60)) {
                let page = try await servers[seen.count % 2].client.call("GET", path, token: key)
                #expect(page.status == 200)
                let events = page.json["events"] as? [[String: any Sendable]] ?? []
                seen += events.compactMap { $0["position"] as? String }
                path = "/v1/events?limit=50" + (page.text("next").map { "&after=\($0)" } ?? "")
                // LedgerOpened, RulesSet, and three events of each first sign-in.
                return seen.count >= 2 + 3 * people ? true : nil
            }
            try await signIns.value
            #expect(seen == (0...3 * people + 1).map { "\($0)" })
        }
    }

    @Test func `events have proofs, and personal data requires a reason`() async throws {
        let settings = ["LEDGER_ORIGIN": Self.origin]
        try await Deployment.with(settings: settings) { deployment in
            let server = try await deployment.serve(
                settings: ["LEDGER_SEALER_STATE": deployment.path("sealer")])
            let client = server.client
            var phone = Device(client)
            try await phone.signIn(deployment.google, as: "ada-at-google", email: "ada@example.com")
            let auditor = try await deployment.apiKey("auditor")
            let support = try await deployment.apiKey("support")
            let listed = try await client.call(
                "GET", "/v1/events?type=SignedIn&account=\(phone.userID)", token: auditor)
            let event = try #require((listed.json["events"] as? [[String: any Sendable]])?.first)
            let id = try #require(event["event_id"] as? String)
            try await eventually("the event to be signed") {
                let one = try await client.call("GET", "/v1/events/\(id)", token: auditor)
                return one.json["proof"] is [String: any Sendable] ? true : nil
            }
            try await expectProved(event, client, auditor)
            let why = ["Ledger-Reason": "ticket 7"]
            for (key, headers, status) in [
                (auditor, why, 403), (support, [:], 400), (support, why, 200),
            ] {
                let answer = try await client.call(
                    "GET", "/v1/events/\(id)?disclose=true", token: key, headers: headers)
                #expect(answer.status == status)
                let text = String(decoding: answer.body, as: UTF8.self)
                #expect(text.contains("ada@example.com") == (status == 200))
            }
            let log = try await client.call("GET", "/v1/access-log", token: auditor)
            let text = String(decoding: log.body, as: UTF8.self)
            #expect(text.contains("ticket 7"))
            for secret in ["ada@example.com", "ada-at-google", "ticket 7", auditor, support] {
                #expect(!server.log.contains(secret))
            }
            #expect(!text.contains("ada@example.com"))
        }
    }

    /// Checks the proof of an event with the published key alone.
    private func expectProved(
        _ event: [String: any Sendable], _ client: WireClient, _ key: String
    ) async throws {
        let keys = try await client.call("GET", "/v1/log/keys", token: key)
        let vkey = (keys.json["keys"] as? [[String: any Sendable]])?.first?["vkey"] as? String
        let verifier = try #require(vkey.flatMap { NoteVerifier($0) })
        #expect(verifier.name.description == Self.origin + "/default")
        let position = try #require(event["position"] as? String)
        let entry = try #require(
            (event["entry_base64"] as? String).flatMap { Data(base64Encoded: $0) })
        let text = try await client.call(
            "GET", "/v1/log/inclusion?position=\(position)", token: key,
            headers: ["Accept": "text/plain"])
        let proof = try TLogProof(parsing: Array(text.body))
        let checkpoint = try proof.verify(entry: Array(entry), [verifier])
        let latest = try await client.call("GET", "/v1/log/checkpoint", token: key)
        let signed = try Checkpoint.open(
            try SignedNote(parsing: Array(latest.body)), [verifier])
        #expect(signed.size >= checkpoint.size)
        let consistent = try await client.call(
            "GET", "/v1/log/consistency?old=\(checkpoint.size)&size=\(signed.size)", token: key)
        #expect(consistent.status == 200)
        let none = try await client.call(
            "GET", "/v1/log/inclusion?position=1000000", token: key)
        #expect(none.errorCode == "NOT_SEALED_YET")
    }
}
