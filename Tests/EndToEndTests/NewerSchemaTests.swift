import Foundation
import LedgerTestSupport
import Postgres
import Testing

/// A server that is still running after a newer release has migrated.
@Suite struct NewerSchemaTests {
    @Test func `under a newer schema every command and every read is 503 immediately`() async throws
    {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let client = server.client
            var phone = Device(client)
            try await phone.signIn(deployment.apple, as: "a")
            #expect(try await phone.account().status == 200)
            let auditor = try await deployment.apiKey("auditor")
            #expect(try await client.call("GET", "/v1/events", token: auditor).status == 200)
            let operate = Session(url: deployment.superuserURL, applicationName: "operator")
            let events = Statement("count_events", "SELECT count(*) FROM events")
            let before = try await operate.run { try $0.query(events).int8(0, 0) }
            try await operate.run {
                try $0.execute(
                    "INSERT INTO ledger_migrations VALUES (999, 'V999_later.sql', '\\x00')")
            }
            var stranger = Device(client)
            let answers = [
                try await stranger.signIn(deployment.google, as: "b"),
                try await phone.link(deployment.google, as: "c"),
                try await phone.unlink(deployment.apple), try await phone.refresh(),
                try await phone.account(),
                try await client.call("POST", "/v1/auth/sign-out", [:], token: phone.accessToken),
                try await client.call("GET", "/v1/events", token: auditor),
                try await client.call("GET", "/v1/accounts/\(phone.userID)", token: auditor),
                try await client.call("GET", "/v1/log/keys", token: auditor),
            ]
            for answer in answers {
                #expect(answer.status == 503)
                #expect(answer.errorCode == "UNAVAILABLE")
                #expect(answer.header("Retry-After") != nil)
            }
            #expect(try await operate.run { try $0.query(events).int8(0, 0) } == before)
            try await eventually("readiness to notice") {
                try await client.call("GET", "/readyz").status == 503 ? true : nil
            }
            try await operate.run {
                try $0.execute("DELETE FROM ledger_migrations WHERE version = 999")
            }
            #expect(try await phone.account().status == 200)
            await operate.close()
            try await server.stop()
            let told = server.log.split(separator: "\n").filter { $0.contains("version 999") }
            #expect(told.count == 1, "\(told)")
        }
    }
}
