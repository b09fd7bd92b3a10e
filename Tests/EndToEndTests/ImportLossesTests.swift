import Foundation
import LedgerTestSupport
import Testing

/// The losses of imports that are repeated, and that do not begin.
@Suite(.timeLimit(.minutes(5))) struct ImportLossesTests {
    private func with(_ body: (Deployment) async throws -> Void) async throws {
        try await Deployment.with(settings: ["LEDGER_MODE": "development"]) { deployment in
            try deployment.configure(providers: Deployment.addressProviders)
            let server = try await deployment.serve()
            try await body(deployment)
            #expect(try await server.stop() == 0)
        }
    }

    private static let second = """
        left out, by kind:
          duplicate_id (file): 1
        left out of those in the ledger, by kind:
          username: 1

        """

    @Test func `a second import reports the losses of the accounts that it leaves`() async throws {
        try await with { deployment in
            let path = try deployment.write(
                """
                {"user_id":"google-oauth2|1","username":"ada","identities":[{"user_id":"1","provider":"google-oauth2"}]}
                {"user_id":"google-oauth2|1","username":"ada","blocked":true,"identities":[]}
                """, to: "users.json")
            for (run, title) in [
                ("first", "left out, by kind:\n  duplicate_id (file): 1\n  username: 1\n"),
                ("second", Self.second),
            ] {
                let report = deployment.path(run)
                let imported = try await deployment.tool.run([
                    "import", "auth0", path, "--reason", "the move", "--report", report,
                ])
                #expect(imported.status == 0 && imported.output.hasSuffix(title), "\(imported)")
                let lines = try String(contentsOfFile: report, encoding: .utf8)
                let kept = run == "second" ? #","account":"kept""# : ""
                #expect(
                    lines == """
                        {"line":1,"problem":"username"\(kept)}
                        {"line":2,"problem":"duplicate_id","with":"file"}

                        """)
            }
        }
    }

    @Test func `an import of Firebase without the parameters of its hashes does not begin`()
        async throws
    {
        try await with { deployment in
            let path = try deployment.write(
                """
                {"users":[{"localId":"1","providerUserInfo":[{"providerId":"google.com","rawId":"1"}]},
                {"localId":"2","email":"a@x.test","emailVerified":true,"passwordHash":"lSrfV15cpx95","salt":"42xE"}]}
                """, to: "users.json")
            let words = ["import", "firebase", path]
            let stopped = try await deployment.tool.run(words + ["--reason", "the move"])
            #expect(stopped.status == 1 && stopped.errors.contains("--hash-config"), "\(stopped)")
            let dry = try await deployment.tool.run(words + ["--dry-run"])
            #expect(dry.output.contains("by external id: 0"), "\(dry)")
            #expect(dry.output.contains("unsupported_hash: 1"), "\(dry)")
        }
    }
}
