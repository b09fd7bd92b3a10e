import Foundation
import LedgerTestSupport
import Testing

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
            #expect(again.output.contains("before"))
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
}
