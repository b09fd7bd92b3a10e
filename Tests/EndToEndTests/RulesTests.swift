import Foundation
import LedgerTestSupport
import Postgres
import Testing

/// The rules of tenants, with servers and the command line.
@Suite struct RulesTests {
    @Test func `servers with different configurations never decide both`() async throws {
        try await Deployment.with { deployment in
            let (first, settings) = (
                try await deployment.serve(), ["LEDGER_REAUTHENTICATION_SECONDS": "700"]
            )
            let second = try await deployment.serve(settings: settings)
            let tool = CommandLineTool(
                environment: deployment.tool.environment.merging(settings) { $1 })
            try await expect(first, signsIn: true, deployment)
            try await expect(second, signsIn: false, deployment)
            #expect(second.log.contains("\"msg\":\"rules differ\""))
            #expect(try await first.admin.call("GET", "/readyz").status == 200)
            let unready = try await second.admin.send("GET", "/readyz")
            #expect(unready.status == 503)
            #expect(
                unready.text.contains("not as configured: tenant default has rules of version 1"),
                "\(unready.text)")

            let same = try await deployment.tool.run(["rules", "check"])
            #expect(same.status == 0 && same.output == "tenant default: as configured\n")
            let found = try await tool.run(["rules", "check"])
            #expect(found.status == 1)
            #expect(found.output.contains("  reauthentication_seconds: 600 -> 700\n"))
            let set = try await tool.run(["rules", "set"])
            #expect(set.status == 0 && set.output == "tenant default: version 2\n", "\(set.errors)")
            let again = try await tool.run(["rules", "set"])
            #expect(again.output == "tenant default: version 2, as before\n")
            try await expect(first, signsIn: false, deployment)
            try await expect(second, signsIn: true, deployment)
            let shown = try await tool.run(["rules", "show"])
            #expect(shown.output.hasPrefix("tenant default, version 2\n"))
            #expect(shown.output.contains("  reauthentication_seconds: 700\n"))
            let verified = try await tool.run(["verify"])
            #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
        }
    }

    @Test func `servers that differ in issuers' factors and counters never decide both`()
        async throws
    {
        try await Deployment.with { deployment in
            let passkey =
                #""providers":[{"name":"passkey","type":"passkey","rp_id":"login.example","#
                + #""origins":["https://login.example"]},"#
            let file = Deployment.providersFile(google: deployment.google, apple: deployment.apple)
                .replacing("\"providers\":[", with: passkey)
            let accepting = file.replacing(
                #""rp_id""#, with: #""refuse_counter_rollback":false,"rp_id""#)
            let other = accepting.replacing(
                #""name":"google""#, with: #""second_factor_amr":["otp","mfa"],"name":"google""#)
            let former = ["LEDGER_PROVIDERS": try deployment.write(file, to: "former.json")]
            let settings = ["LEDGER_PROVIDERS": try deployment.write(other, to: "other.json")]
            let tool = CommandLineTool(
                environment: deployment.tool.environment.merging(settings) { $1 })
            // The recorded rules lack both members, as those of a ledger from before them.
            let first = try await deployment.serve(settings: former)
            try await expect(first, signsIn: true, deployment)
            let second = try await deployment.serve(settings: settings)
            try await expect(second, signsIn: false, deployment)
            try await expect(first, signsIn: true, deployment)
            let found = try await tool.run(["rules", "check"])
            #expect(
                found.output == """
                    tenant default: differs
                      counter_rollback_providers:  -> passkey
                      second_factor_amr:  -> google mfa otp

                    """, "\(found.output)")
            let set = try await tool.run(["rules", "set"])
            #expect(set.output == "tenant default: version 2\n", "\(set.errors)")
            try await expect(first, signsIn: false, deployment)
            try await expect(second, signsIn: true, deployment)
            let shown = try await tool.run(["rules", "show"])
            #expect(shown.output.contains("  second_factor_amr: google mfa otp\n"))
            #expect(shown.output.contains("  counter_rollback_providers: passkey\n"))
            let verified = try await tool.run(["verify"])
            #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
        }
    }

    @Test func `other tenants go on while one has other rules`() async throws {
        try await Deployment.with { deployment in
            let file = Deployment.providersFile(google: deployment.google, apple: deployment.apple)
            let several = file.dropLast() + ",\"several_per_provider\":true}"
            func settings(_ acme: some StringProtocol, _ name: String) throws -> [String: String] {
                let path = try deployment.write(
                    "{\"tenants\":{\"default\":\(file),\"acme\":\(acme)}}", to: name)
                return ["LEDGER_PROVIDERS": path]
            }
            _ = try await deployment.tool.run(["keys", "init"])
            _ = try await deployment.tool.run(["tenant", "create", "acme"])
            let first = try await deployment.serve(settings: try settings(file, "one.json"))
            let second = try await deployment.serve(settings: try settings(several, "two.json"))
            try await expect(first, signsIn: true, deployment, "/t/acme")
            try await expect(second, signsIn: false, deployment, "/t/acme")
            try await expect(second, signsIn: true, deployment)
            let ready = try await second.admin.send("GET", "/readyz")
            #expect(ready.status == 200, "it serves one of its tenants")
            #expect(ready.text.contains("tenant acme has rules of version 1"), "\(ready.text)")
            let third = try await deployment.serve()
            try await expect(third, signsIn: true, deployment)
            try await expectSessionsGoOn(from: first, at: [second, third], deployment)
        }
    }

    @Test func `a provider is removed with those who have no other, and its issuer stays pinned`()
        async throws
    {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var ada = Device(server.client)
            #expect(try await ada.signIn(deployment.google, as: "ada").status == 200)
            try await server.stop()
            let file = Deployment.providersFile(google: deployment.google, apple: deployment.apple)
            let thief = file.replacing("\"google.example\"", with: "\"https://thief.example\"")
            let fewer = file.replacing(/\{"name":"google"[^}]*\},\s*/, with: "")
            func tool(_ text: String, _ name: String) throws -> CommandLineTool {
                let path = try deployment.write(text, to: name)
                return CommandLineTool(
                    environment: deployment.tool.environment.merging(
                        ["LEDGER_PROVIDERS": path]) { $1 })
            }
            for arguments in [["rules", "set"], ["rules", "set", "--accept-lock-outs"]] {
                let refused = try await tool(thief, "thief.json").run(arguments)
                #expect(refused.status == 1 && refused.errors.contains("google has identities"))
            }
            let remover = try tool(fewer, "fewer.json")
            let listed = try await remover.run(["rules", "check"])
            #expect(listed.status == 1)
            #expect(
                listed.output.contains(
                    "  locked out: 1 accounts: needs --accept-lock-outs\n    \(ada.userID)\n"),
                "\(listed.output)")
            let refused = try await remover.run(["rules", "set"])
            #expect(refused.status == 1 && refused.errors.contains("--accept-lock-outs"))
            let accepted = try await remover.run(["rules", "set", "--accept-lock-outs"])
            #expect(accepted.status == 0, "\(accepted.errors)")
            let back = try await tool(thief, "thief.json").run(["rules", "set"])
            #expect(back.status == 1 && back.errors.contains("--accept-issuer google"))
            // A wrong recording, and its repair.
            for tool in [try tool(thief, "thief.json"), deployment.tool] {
                let checked = try await tool.run(["rules", "check"])
                #expect(
                    checked.output.contains("needs --accept-issuer google\n"), "\(checked.output)")
                let set = try await tool.run(["rules", "set", "--accept-issuer", "google"])
                #expect(set.status == 0, "\(set.errors)")
            }
            let again = try await deployment.serve()
            var device = Device(again.client)
            #expect(try await device.signIn(deployment.google, as: "ada").status == 200)
            #expect(device.userID == ada.userID)
        }
    }

    @Test func `the accounts whose passkey as a second factor loses its provider are listed`()
        async throws
    {
        try await Deployment.with { deployment in
            let file = Deployment.providersFile(google: deployment.google, apple: deployment.apple)
            let passkey =
                #""providers":[{"name":"passkey","type":"passkey","rp_id":"login.example","#
                + #""origins":["https://login.example"]},"#
            let more = file.replacing("\"providers\":[", with: passkey)
            let path = try deployment.write(more, to: "more.json")
            let server = try await deployment.serve(settings: ["LEDGER_PROVIDERS": path])
            var ada = Device(server.client)
            #expect(try await ada.signIn(deployment.google, as: "ada").status == 200)
            try await server.stop()
            let session = Session(url: deployment.superuserURL, applicationName: "test")
            let id = ada.userID
            try await session.run {
                try $0.execute(
                    """
                    INSERT INTO factors (tenant_id, factor_id, account_id, kind, version, sealed,
                        wrapping_key, counter, credential, domain)
                    VALUES ('default', gen_random_uuid(), '\(id)', 'passkey', 1, 'x', 'x', 0, 'x',
                        'login.example')
                    """)
            }
            await session.close()
            let listed = try await deployment.tool.run(["rules", "check"])
            #expect(
                listed.output.hasSuffix(
                    "  without the provider of a passkey that is a second factor: 1 accounts:"
                        + " needs --accept-lock-outs\n    \(id)\n"), "\(listed.output)")
            let refused = try await deployment.tool.run(["rules", "set"])
            #expect(refused.status == 1 && refused.errors.contains("--accept-lock-outs"))
            let accepted = try await deployment.tool.run(["rules", "set", "--accept-lock-outs"])
            #expect(accepted.status == 0, "\(accepted.errors)")
        }
    }

    @Test func `a tenant with damaged rules is reported, and the others are served`() async throws {
        try await Deployment.with { deployment in
            let file = Deployment.providersFile(google: deployment.google, apple: deployment.apple)
            let path = try deployment.write(
                "{\"tenants\":{\"default\":\(file),\"acme\":\(file)}}", to: "two.json")
            let settings = ["LEDGER_PROVIDERS": path]
            _ = try await deployment.tool.run(["keys", "init"])
            _ = try await deployment.tool.run(["tenant", "create", "acme"])
            try await deployment.serve(settings: settings).stop()
            try await deployment.asSuperuser(
                "UPDATE rules SET body = '{}' WHERE tenant_id = 'acme'")
            // As a stolen serving login can.
            try await deployment.asSuperuser(
                """
                INSERT INTO rules (tenant_id, version, body, mac)
                SELECT 'No Tenant', version, body, mac FROM rules WHERE tenant_id = 'default'
                """)
            let server = try await deployment.serve(settings: settings)
            try await expect(server, signsIn: true, deployment)
            let refused = try await server.client.call(
                "POST", "/t/acme/v1/auth/sign-in/google",
                ["id_token": deployment.google.token(subject: "eve")])
            #expect(refused.status == 500)
            let ready = try await server.admin.send("GET", "/readyz")
            #expect(ready.status == 200)
            #expect(ready.text.contains("tenant acme has damaged rules"), "\(ready.text)")
            #expect(
                ready.text.contains("a row names the invalid tenant No Tenant"), "\(ready.text)")
            let tool = CommandLineTool(
                environment: deployment.tool.environment.merging(settings) { $1 })
            let damaged = "tenant acme: the recorded rules are damaged"
            let checked = try await tool.run(["rules", "check"])
            #expect(checked.status == 1 && checked.output.contains(damaged), "\(checked.errors)")
            #expect(checked.output.contains("tenant default: as configured\n"))
            let shown = try await tool.run(["rules", "show"])
            #expect(shown.status == 1 && shown.output.contains(damaged), "\(shown.errors)")
            #expect(shown.output.contains("tenant default, version 1\n"))
        }
    }

    @Test func `support's commands need a providers file only while no rules are recorded`()
        async throws
    {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var ada = Device(server.client)
            try await ada.signIn(deployment.apple, as: "ada")
            #expect(try await ada.link(deployment.google, as: "ada-g").status == 200)
            let account = try await ada.account()
            let identities = try #require(account.json["identities"] as? [[String: any Sendable]])
            let identity = try #require(identities.last?["identity_id"] as? String)
            #expect(try await ada.unlink(deployment.google).status == 200)
            try await server.stop()
            let tool = CommandLineTool(
                environment: deployment.tool.environment.filter { $0.key != "LEDGER_PROVIDERS" })
            let words = ["relink", ada.userID, identity, "--dry-run"]
            let plan = try await tool.run(words)
            #expect(plan.status == 0, "\(plan.errors)")
            #expect(plan.output.contains("sign-in is then possible with apple, google"))
            try await deployment.asSuperuser("DELETE FROM rules")
            let refused = try await tool.run(words)
            #expect(refused.status != 0 && refused.errors.contains("LEDGER_PROVIDERS is not set"))
        }
    }

    @Test func `in development a changed configuration needs no command`() async throws {
        try await Deployment.with(settings: ["LEDGER_MODE": "development"]) { deployment in
            let first = try await deployment.serve()
            try await expect(first, signsIn: true, deployment)
            try await first.stop()
            let second = try await deployment.serve(
                settings: ["LEDGER_REAUTHENTICATION_SECONDS": "700"])
            try await expect(second, signsIn: true, deployment)
            let shown = try await deployment.tool.run(["rules", "show"])
            #expect(shown.output.contains("version 2\n"))
        }
    }

    /// Refreshes and ends sessions of the tenant `acme` at servers that do not have its rules.
    private func expectSessionsGoOn(
        from first: ServerProcess, at others: [ServerProcess], _ deployment: Deployment
    ) async throws {
        for server in others {
            var session = try await first.client.call(
                "POST", "/t/acme/v1/auth/sign-in/google",
                ["id_token": deployment.google.token(subject: "eve")])
            session = try await server.client.call(
                "POST", "/t/acme/v1/auth/refresh",
                ["refresh_token": try #require(session.text("refresh_token"))])
            #expect(session.status == 200)
            let token = try #require(session.text("access_token"))
            let unlinked = try await server.client.call(
                "DELETE", "/t/acme/v1/auth/link/google", token: token)
            #expect(unlinked.errorCode == "RULES_DIFFER")
            let ended = try await server.client.call(
                "POST", "/t/acme/v1/auth/sign-out", token: token)
            #expect(ended.status == 200)
        }
    }

    private func expect(
        _ server: ServerProcess, signsIn: Bool, _ deployment: Deployment, _ tenant: String = ""
    ) async throws {
        let answer = try await server.client.call(
            "POST", "\(tenant)/v1/auth/sign-in/google",
            ["id_token": deployment.google.token(subject: "eve")])
        guard !signsIn else {
            #expect(answer.status == 200)
            return
        }
        #expect(answer.status == 503 && answer.errorCode == "RULES_DIFFER")
        #expect(answer.header("Retry-After") == "5")
    }
}

extension WireClient.Answer {
    fileprivate var text: String { String(decoding: body, as: UTF8.self) }
}
