import LedgerTestSupport
import Postgres
import Testing

/// Accounts that the operator disables, enables and signs out.
@Suite struct AccessCommandTests {
    @Test func `an account is disabled and enabled, in every history, and verified`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var ada = Device(server.client)
            try await ada.signIn(deployment.apple, as: "ada", email: "ada@private.example")
            let why = ["--reason", "stolen phone", "--case", "T-6"]

            let plan = try await deployment.tool.run(["disable", ada.userID, "--dry-run"])
            #expect(
                plan.output == """
                    disable account \(ada.userID) and end its sessions
                      it is enabled, and linked to apple

                    """, "\(plan.errors)")
            #expect(try await ada.account().status == 200)
            let done = try await deployment.tool.run(["disable", ada.userID] + why)
            #expect(done.status == 0, "\(done.errors)")
            #expect(done.output == plan.output + "done\n")
            // The server that was running refuses its session and its identity.
            #expect(try await ada.account().status == 401)
            var other = Device(server.client)
            let refused = try await other.signIn(deployment.apple, as: "ada")
            #expect(refused.status == 403 && refused.errorCode == "ACCOUNT_DISABLED")
            let again = try await deployment.tool.run(["disable", ada.userID] + why)
            #expect(
                again.output.hasSuffix("nothing changed: the account is in this state already\n"))
            let account = try await deployment.tool.run(["account", ada.userID])
            #expect(account.output.contains("disabled at position"), "\(account.output)")
            #expect(account.output.contains("sign-in was possible with nothing"))
            let found = try await deployment.tool.run(["search", ada.userID])
            #expect(found.output.contains("disabled, linked to apple"), "\(found)")

            try await expectVerified(deployment)
            let id = ada.userID
            func setDisabled(_ position: String) async throws {
                let session = Session(url: deployment.superuserURL, applicationName: "test")
                try await session.run {
                    try $0.execute(
                        "UPDATE accounts SET disabled_position = \(position) WHERE account_id = '\(id)'"
                    )
                }
                await session.close()
            }
            let history = try await deployment.tool.run(["history", ada.userID])
            let line = history.output.split(separator: "\n").first {
                $0.contains("AccountDisabled")
            }
            let position = String(try #require(line?.firstMatch(of: /#([0-9]+)/)?.output.1))
            try await setDisabled("NULL")
            let damaged = try await deployment.tool.run(["verify"])
            #expect(damaged.status == 1)
            #expect(
                damaged.output.contains("disabled_position of account \(ada.userID)"),
                "\(damaged.output)")
            try await setDisabled(position)
            try await expectVerified(deployment)
            let enabled = try await deployment.tool.run(["enable", ada.userID] + why)
            #expect(enabled.status == 0, "\(enabled.errors)")
            try await ada.signIn(deployment.apple, as: "ada", email: "ada@private.example")
            let ended = try await deployment.tool.run(["end-sessions", ada.userID] + why)
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(try await ada.account().status == 401)
            let all = try await deployment.tool.run(["history", ada.userID])
            for type in ["AccountDisabled", "AccountEnabled", "SessionsEnded"] {
                #expect(all.output.contains(type), "\(all.output)")
            }
            try await expectVerified(deployment)
        }
    }
}
