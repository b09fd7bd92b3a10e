import Foundation
import LedgerTestSupport
import Testing

/// Webhooks while servers and the receiver are killed: no event is lost or out of order.
@Suite struct WebhookSurvivalTests {
    /// Retries every second, enough of them that no event becomes a dead letter.
    private static let settings = [
        "LEDGER_WEBHOOK_RETRY_SECONDS": Array(repeating: "1", count: 32).joined(separator: ",")
    ]

    @Test func `each event arrives in order, whichever process is killed`() async throws {
        try await Deployment.with(settings: Self.settings) { deployment in
            let receiver = try WebhookReceiver()
            try await receiver.listenAgain()
            var servers = [try await deployment.serve(), try await deployment.serve()]
            let webhook = try await deployment.addWebhook(receiver)
            for round in 0..<4 {
                let before = receiver.deliveries.count
                let traffic = EndOfTraffic()
                let working = Task { [servers] in
                    await Self.traffic(round, over: servers, of: deployment, until: traffic)
                }
                try await eventually("deliveries in round \(round)", within: .seconds(120)) {
                    receiver.deliveries.count > before + 20 ? true : nil
                }
                await receiver.stopListening()
                try await servers[round % 2].kill()
                traffic.tell()
                try await receiver.listenAgain()
                await working.value
                servers[round % 2] = try await deployment.serve()
                try await mergeTwo(round, on: servers[round % 2], of: deployment)
            }
            try await deployment.settled(webhook.id)
            let deliveries = receiver.deliveries
            #expect(deliveries.contains { $0.type == "AccountsMerged" && $0.accounts.count == 2 })
            try await deployment.expectAllTold(deliveries)
            try await OtherWebhookVerifier.expect(
                deliveries, signedWith: webhook.secret, in: deployment)
            try await expectVerified(deployment)
            await receiver.stopListening()
        }
    }

    /// People who sign in, link and unlink a limited number of times, on servers that may end at any moment.
    private static func traffic(
        _ round: Int, over servers: [ServerProcess], of deployment: Deployment,
        until end: EndOfTraffic
    ) async {
        await withTaskGroup(of: Void.self) { group in
            for lane in 0..<4 {
                group.addTask {
                    for number in 0..<100 where !end.isHere {
                        let name = "r\(round) l\(lane) n\(number % 5)"
                        var device = Device(servers[number % servers.count].client)
                        guard (try? await device.signIn(deployment.apple, as: name)) != nil,
                            !device.accessToken.isEmpty
                        else { continue }
                        _ = try? await device.link(deployment.google, as: name)
                        _ = try? await device.unlink(deployment.google)
                    }
                }
            }
        }
    }

    private func mergeTwo(
        _ round: Int, on server: ServerProcess, of deployment: Deployment
    ) async throws {
        var ada = Device(server.client)
        var bob = Device(server.client)
        try await ada.signIn(deployment.apple, as: "ada \(round)")
        try await bob.signIn(deployment.google, as: "bob \(round)")
        let merged = try await deployment.tool.run([
            "merge", ada.userID, bob.userID, "--reason", "a test", "--case", "round \(round)",
        ])
        #expect(merged.status == 0, "\(merged.errors)")
        try await bob.signIn(deployment.google, as: "bob \(round)")
        #expect(bob.userID == ada.userID)
    }

    @Test func `a server that was frozen moves nothing when it wakes`() async throws {
        try await Deployment.with(settings: Self.settings) { deployment in
            let receiver = try WebhookReceiver()
            try await receiver.listenAgain()
            let frozen = try await deployment.serve()
            let webhook = try await deployment.addWebhook(receiver)
            receiver.close()
            for guest in 0..<5 {
                var device = Device(frozen.client)
                try await device.signIn(deployment.apple, as: "guest \(guest)")
            }
            try await eventually("requests to be under way", within: Deployment.deliveryWait) {
                receiver.deliveries.isEmpty ? nil : true
            }
            frozen.process.send(SIGSTOP)
            receiver.open()
            let other = try await deployment.serve()
            try await deployment.asSuperuser(
                """
                UPDATE webhook_cursors SET expires_at = clock_timestamp() - interval '1 s'
                RETURNING endpoint_id::text
                """)
            for guest in 0..<5 {
                var device = Device(other.client)
                try await device.signIn(deployment.apple, as: "guest \(guest)")
            }
            try await deployment.settled(webhook.id)
            let cursor = try await deployment.webhook(webhook.id)?[2]
            frozen.process.send(SIGCONT)
            // It has resumed, and has released its endpoints by the time of this answer.
            var device = Device(frozen.client)
            try await device.signIn(deployment.apple, as: "guest 0")
            try await deployment.settled(webhook.id)
            let later = try #require(try await deployment.webhook(webhook.id)?[2])
            #expect((Int64(later) ?? 0) > (Int64(cursor ?? "") ?? .max))
            try await deployment.expectAllTold(receiver.deliveries)
            await receiver.stopListening()
        }
    }

    @Test func `a receiver that hangs delays no command, and no readiness`() async throws {
        try await Deployment.with(settings: Self.settings) { deployment in
            let receiver = try WebhookReceiver()
            try await receiver.listenAgain()
            receiver.close()
            let server = try await deployment.serve()
            let webhook = try await deployment.addWebhook(receiver)
            for guest in 0..<40 {
                var device = Device(server.client)
                let answer = try await device.signIn(deployment.apple, as: "guest \(guest)")
                #expect(answer.status == 200)
            }
            // Every one of them was answered while nothing was delivered.
            try await eventually("16 requests to hang", within: Deployment.deliveryWait) {
                receiver.deliveries.count >= 16 ? true : nil
            }
            #expect(
                try await deployment.asSuperuser(
                    "SELECT min(position)::text FROM webhook_deliveries") == ["0"])
            #expect(try await server.admin.call("GET", "/readyz").status == 200)
            let page = try await server.admin.call("GET", "/metrics")
            let text = String(decoding: page.body, as: UTF8.self)
            #expect(
                text.contains(
                    "ledger_webhook_enabled{tenant=\"default\",webhook=\"\(webhook.id)\"} 1"))
            #expect(text.contains("ledger_webhook_pending_events{tenant=\"default\""))
            receiver.open()
            try await deployment.settled(webhook.id)
            try await deployment.expectAllTold(receiver.deliveries)
            await receiver.stopListening()
        }
    }
}
