import Foundation
import LedgerTestSupport
import Postgres
import Testing

/// Unlinks that the operator plans for account holders, and processes that end while one is due.
@Suite(.timeLimit(.minutes(5))) struct PlannedUnlinkTests {
    private static let why = ["--reason", "not theirs", "--case", "T-7"]

    /// Ada with Apple and Google; returns the id of her Google identity.
    private func signIn(
        _ ada: inout Device, _ deployment: Deployment
    ) async throws -> String {
        try await ada.signIn(deployment.apple, as: "ada")
        #expect(try await ada.link(deployment.google, as: "ada-g").status == 200)
        let identities = try await ada.account().json["identities"] as? [[String: Any]]
        return try #require(identities?.last?["identity_id"] as? String)
    }

    private func count(
        _ type: String, of account: String, _ deployment: Deployment
    ) async throws -> Int {
        let history = try await deployment.tool.run(["history", account]).output
        return history.split(separator: "\n").count { $0.contains(type) }
    }

    @Test func `an unlink is planned, shown and stopped by the operator`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var ada = Device(server.client)
            let identity = try await signIn(&ada, deployment)
            let command = ["unlink-identity", ada.userID, identity]
            let shown = try await deployment.tool.run(command + ["--dry-run"])
            #expect(shown.status == 0, "\(shown.errors)")
            #expect(
                shown.output.contains(
                    "unlink identity \(identity) of google from account \(ada.userID) at"))
            #expect(
                shown.output.hasSuffix("  the account keeps: apple\n  it ends 0 sessions\n"),
                "\(shown.output)")
            let planned = try await deployment.tool.run(command + Self.why)
            #expect(planned.output.hasSuffix("done\n"), "\(planned)")
            let again = try await deployment.tool.run(command + Self.why)
            #expect(again.output.hasSuffix("nothing changed: it is so already\n"))
            #expect(
                String(decoding: try await ada.account().body, as: UTF8.self)
                    .contains("unlink_due"))
            let account = try await deployment.tool.run(["account", ada.userID])
            #expect(account.output.contains(", to be unlinked at "), "\(account.output)")
            let stopped = try await deployment.tool.run(command + ["--stop"] + Self.why)
            #expect(stopped.output.contains("keep identity \(identity) of google"), "\(stopped)")
            let unknown = try await deployment.tool.run(
                ["unlink-identity", ada.userID, ada.userID] + Self.why)
            #expect(unknown.status != 0)
            #expect(unknown.errors.contains("the account has no such identity"))
            for type in ["ProviderUnlinkPlanned", "ProviderUnlinkStopped"] {
                #expect(try await count(type, of: ada.userID, deployment) == 1)
            }
            try await expectVerified(deployment)
        }
    }

    @Test func `what is due is unlinked once, wherever a process is killed`() async throws {
        let switches = try await FaultSwitches()
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var ada = Device(server.client)
            let identity = try await signIn(&ada, deployment)
            let planned = try await deployment.tool.run(
                ["unlink-identity", ada.userID, identity] + Self.why)
            #expect(planned.status == 0, "\(planned.errors)")
            #expect(try await server.stop() == 0)

            // A day passes, for Postgres and for the servers.
            try await execute(
                """
                ALTER FUNCTION pg_catalog.clock_timestamp() RENAME TO clock_of_yesterday;
                CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql
                    AS 'SELECT pg_catalog.clock_of_yesterday() + interval ''25 hours''';
                """, deployment)
            try switches.begin(.clock, 90_000)
            let first = try await deployment.serve(settings: switches.environment)
            try await first.kill()
            let others = [
                try await deployment.serve(settings: switches.environment),
                try await deployment.serve(settings: switches.environment),
            ]
            let id = ada.userID
            try await eventually("the identity to be unlinked") {
                try await count("ProviderUnlinked", of: id, deployment) > 0 ? true : nil
            }
            for other in others { try await other.kill() }
            let last = try await deployment.serve(settings: switches.environment)
            #expect(try await last.stop() == 0)
            #expect(try await count("ProviderUnlinked", of: ada.userID, deployment) == 1)
            try switches.end(.clock)
            try await execute(
                """
                DROP FUNCTION public.clock_timestamp();
                ALTER FUNCTION pg_catalog.clock_of_yesterday() RENAME TO clock_timestamp;
                """, deployment)
            try await expectVerified(deployment)
        }
    }

    private func execute(_ sql: String, _ deployment: Deployment) async throws {
        let session = Session(url: deployment.superuserURL, applicationName: "test")
        try await session.run { try $0.execute(sql) }
        await session.close()
    }
}
