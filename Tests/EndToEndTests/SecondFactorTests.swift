import Foundation
import LedgerTestSupport
import Testing

/// Second factors over HTTP against two processes on one database, and with the command line.
@Suite(.timeLimit(.minutes(5))) struct SecondFactorTests {
    /// A deployment with two servers.
    private func withTwoServers(
        _ body: (Deployment, WireClient, WireClient) async throws -> Void
    ) async throws {
        try await Deployment.with { deployment in
            let servers = [try await deployment.serve(), try await deployment.serve()]
            try await body(deployment, servers[0].client, servers[1].client)
            for server in servers { #expect(try await server.stop() == 0) }
            try await expectVerified(deployment)
        }
    }

    private func post(
        _ path: String, _ body: [String: String], by device: Device? = nil,
        to client: WireClient
    ) async throws -> WireClient.Answer {
        var headers = ["Content-Type": "application/json"]
        if let device { headers["Authorization"] = "Bearer \(device.accessToken)" }
        return try await client.send(
            "POST", path, headers: headers, body: JSONSerialization.data(withJSONObject: body))
    }

    private var now: Int64 { Int64(Date().timeIntervalSince1970) }

    /// Enrols an authenticator app; the device gets the new session.
    private func enrol(
        _ device: inout Device
    ) async throws -> (app: AuthenticatorApp, factor: String, codes: [String]) {
        let begun = try await post(
            "/v1/account/factor-enrolments", ["type": "totp"], by: device, to: device.client)
        let app = try #require(begun.text("secret").flatMap { AuthenticatorApp(base32: $0) })
        let answer = try await post(
            "/v1/account/factors",
            [
                "enrolment_token": begun.text("enrolment_token") ?? "",
                "code": app.code(at: now),
            ], by: device, to: device.client)
        try #require(answer.status == 200, "\(answer)")
        device.keep(answer)
        return (
            app, answer.text("factor_id") ?? "", answer.texts("recovery_codes") ?? []
        )
    }

    private struct FirstStep {
        let token: String
        /// The ids by type.
        let factors: [String: String]
    }

    /// Signs in as a person with a factor.
    private func firstStep(
        _ name: String, _ deployment: Deployment, at client: WireClient
    ) async throws -> FirstStep {
        var device = Device(client)
        let refused = try await device.signIn(deployment.apple, as: name)
        #expect(refused.status == 403 && refused.errorCode == "SECOND_FACTOR_REQUIRED")
        let error = refused.json["error"] as? [String: Any]
        let details = try #require(error?["details"] as? [String: Any])
        let factors = details["factors"] as? [[String: String]] ?? []
        return FirstStep(
            token: try #require(details["sign_in_token"] as? String),
            factors: Dictionary(
                uniqueKeysWithValues: factors.map { ($0["type"] ?? "", $0["factor_id"] ?? "") }))
    }

    @Test func `a code that two processes get at once opens one session`() async throws {
        try await withTwoServers { deployment, first, second in
            var ada = Device(first)
            try await ada.signIn(deployment.apple, as: "ada")
            let former = ada
            let (app, factor, codes) = try await enrol(&ada)
            #expect(codes.count == 10)
            #expect(try await former.account().status == 401)
            #expect(try await ada.account().status == 200)
            let recovery = try await firstStep("ada", deployment, at: second)
                .factors["recovery_codes"]
            for id in [factor, recovery ?? ""] {
                var steps: [FirstStep] = []
                for _ in 0..<8 {
                    steps.append(try await firstStep("ada", deployment, at: first))
                }
                // The code of the next step stays valid longest.
                let code = id == factor ? app.code(at: now + 30) : codes[0]
                let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                    for (index, step) in steps.enumerated() {
                        group.addTask {
                            try await post(
                                "/v1/auth/second-factor",
                                ["sign_in_token": step.token, "factor_id": id, "code": code],
                                to: index % 2 == 0 ? first : second
                            ).status
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(statuses.count { $0 == 200 } == 1, "\(statuses)")
                #expect(statuses.allSatisfy { [200, 401].contains($0) }, "\(statuses)")
            }
            let events = try await deployment.tool.run(["history", ada.userID]).output
            for name in ["SecondFactorEnrolled", "SecondFactorRefused", "RecoveryCodeUsed"] {
                #expect(events.contains(name), "\(name) in \(events)")
            }
        }
    }

    @Test func `a lost factor is found, its removal planned and stopped by the operator`()
        async throws
    {
        try await withTwoServers { deployment, first, _ in
            var ada = Device(first)
            try await ada.signIn(deployment.apple, as: "ada")
            let (_, factor, _) = try await enrol(&ada)
            let why = ["--reason", "lost phone", "--case", "T-7"]
            let command = ["remove-factor", ada.userID, factor]
            let shown = try await deployment.tool.run(command + ["--dry-run"])
            #expect(shown.status == 0, "\(shown.errors)")
            #expect(shown.output.contains("remove factor \(factor) of account \(ada.userID) at"))
            let planned = try await deployment.tool.run(command + why)
            #expect(planned.output.hasSuffix("done\n"), "\(planned)")
            let again = try await deployment.tool.run(command + why)
            #expect(again.output.hasSuffix("nothing changed: it is so already\n"))
            let listed = try await first.send(
                "GET", "/v1/account/factors",
                headers: ["Authorization": "Bearer \(ada.accessToken)"], body: nil)
            #expect(String(decoding: listed.body, as: UTF8.self).contains("removal_due"))
            let stopped = try await deployment.tool.run(command + ["--stop"] + why)
            #expect(stopped.output.contains("keep factor \(factor)"), "\(stopped)")
            let unknown = try await deployment.tool.run(
                ["remove-factor", ada.userID, ada.userID] + why)
            #expect(unknown.status != 0)
            let history = try await deployment.tool.run(["history", ada.userID]).output
            #expect(history.contains("SecondFactorRemovalPlanned"))
            #expect(history.contains("SecondFactorRemovalStopped"))
        }
    }
}
