import Foundation
import LedgerTestSupport
import Testing

/// The operator's commands for webhooks.
@Suite struct WebhookCommandTests {
    @Test func `a client's trace goes on in the log and in webhooks`() async throws {
        try await Deployment.with { deployment in
            let receiver = try WebhookReceiver()
            try await receiver.listenAgain()
            let server = try await deployment.serve()
            let webhook = try await deployment.addWebhook(receiver)
            let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
            let answer = try await server.client.call(
                "POST", "/v1/auth/sign-in/google",
                ["id_token": deployment.google.token(subject: "ada")],
                headers: ["traceparent": "00-\(trace)-00f067aa0ba902b7-01"])
            #expect(answer.status == 200)
            try await deployment.settled(webhook.id)
            let sent = receiver.deliveries.compactMap(\.traceparent)
            #expect(sent.count == 3 && Set(sent).count == 1)
            let parts = try #require(sent.first).split(separator: "-").map(String.init)
            #expect(parts.count == 4 && parts[1] == trace && parts[2] != "00f067aa0ba902b7")
            #expect(
                server.log.contains("\"trace_id\":\"\(trace)\",\"span_id\":\"\(parts[2])\""))
            await receiver.stopListening()
        }
    }

    @Test func `refused events become dead letters, are listed and sent again`() async throws {
        let settings = ["LEDGER_WEBHOOK_RETRY_SECONDS": "0,0"]
        try await Deployment.with(settings: settings) { deployment in
            let receiver = try WebhookReceiver()
            try await receiver.listenAgain()
            receiver.answer { $0.type == "ProviderLinked" ? 422 : 204 }
            let server = try await deployment.serve()
            let webhook = try await deployment.addWebhook(receiver)
            var ada = Device(server.client)
            try await ada.signIn(deployment.apple, as: "ada", email: "ada@private.example")
            try await ada.signIn(deployment.apple, as: "ada")
            try await deployment.settled(webhook.id, dead: 1)
            let refused = receiver.deliveries.filter { $0.type == "ProviderLinked" }
            #expect(refused.count == 3)
            let sequences = receiver.deliveries.compactMap { $0.accounts[ada.userID] }
            #expect(Set(sequences).count == Int(sequences.max() ?? 0) + 1, "later events flow")
            let page = try await server.admin.call("GET", "/metrics")
            let labels = "{tenant=\"default\",webhook=\"\(webhook.id)\"}"
            #expect(
                String(decoding: page.body, as: UTF8.self)
                    .contains("ledger_webhook_dead_events\(labels) 1"))

            let tool = deployment.tool
            let letters = try await tool.run(["webhooks", "dead-letters", webhook.id])
            let columns = letters.output.split(separator: "\t").map(String.init)
            #expect(letters.status == 0 && columns.count == 7, "\(letters.errors)")
            #expect(columns[2...3] == ["ProviderLinked", "3 attempts"] && columns[5] == "422")
            #expect(columns[1] == refused[0].id && columns[6] == "\(ada.userID)\n")
            let wrong = try await tool.run(["webhooks", "replay", webhook.id, "--position", "0"])
            #expect(wrong.status == 1 && wrong.errors.contains("no dead letter"))
            receiver.answer { _ in 200 }
            let again = try await tool.run(
                ["webhooks", "replay", webhook.id, "--position", columns[0]])
            #expect(
                again.status == 0 && again.output.hasPrefix("queued 1 events"), "\(again.errors)")
            try await deployment.settled(webhook.id)
            let told = receiver.deliveries.filter { $0.type == "ProviderLinked" }
            #expect(told.count == 4 && Set(told.map(\.body)).count == 1)
            for delivery in receiver.deliveries {
                let body = String(decoding: delivery.body, as: UTF8.self)
                #expect(!body.contains("private.example") && !body.contains("\"ada\""))
            }
            try await OtherWebhookVerifier.expect(
                receiver.deliveries, signedWith: webhook.secret, in: deployment)

            #expect(!server.log.contains(webhook.secret))
            let accesses = try await tool.run(["access-log"])
            #expect(accesses.output.contains("webhook.add"))
            #expect(accesses.output.contains("webhook.replay"))
            #expect(!accesses.output.contains(receiver.url))
            await receiver.stopListening()
        }
    }

    @Test func `a receiver that answered 410 gets nothing until it is enabled`() async throws {
        try await Deployment.with { deployment in
            let receiver = try WebhookReceiver()
            try await receiver.listenAgain()
            receiver.answer { _ in 410 }
            let server = try await deployment.serve()
            let webhook = try await deployment.addWebhook(receiver)
            try await eventually("it to be gone", within: Deployment.deliveryWait) {
                try await deployment.webhook(webhook.id)?[1] == "gone" ? true : nil
            }
            var ada = Device(server.client)
            try await ada.signIn(deployment.apple, as: "ada")
            #expect(try await server.client.call("GET", "/readyz").status == 200)
            receiver.answer { _ in 200 }
            for (command, state) in [("disable", "disabled"), ("enable", "enabled")] {
                let done = try await deployment.tool.run(["webhooks", command, webhook.id])
                #expect(done.status == 0 && done.output.hasSuffix("is \(state)\n"))
            }
            try await deployment.settled(webhook.id)
            try await deployment.expectAllTold(receiver.deliveries)
            let removed = try await deployment.tool.run(["webhooks", "remove", webhook.id])
            #expect(removed.status == 0, "\(removed.errors)")
            #expect(try await deployment.tool.run(["webhooks", "list"]).output.isEmpty)
            await receiver.stopListening()
        }
    }

    @Test func `a webhook may want some types, and a rotated secret signs beside the former`()
        async throws
    {
        try await Deployment.with { deployment in
            let receiver = try WebhookReceiver()
            try await receiver.listenAgain()
            let server = try await deployment.serve()
            var ada = Device(server.client)
            try await ada.signIn(deployment.apple, as: "ada")
            let webhook = try await deployment.addWebhook(
                receiver, ["--types", "ProviderLinked,ProviderUnlinked"])
            _ = try await ada.link(deployment.google, as: "ada-g")
            try await deployment.settled(webhook.id)
            #expect(receiver.deliveries.map(\.type) == ["ProviderLinked"])
            let rotated = try await deployment.tool.run(["webhooks", "rotate-secret", webhook.id])
            #expect(rotated.status == 0, "\(rotated.errors)")
            let secret = String(rotated.output.dropLast())
            _ = try await ada.unlink(deployment.google)
            try await deployment.settled(webhook.id)
            #expect(receiver.deliveries.map(\.type) == ["ProviderLinked", "ProviderUnlinked"])
            let last = receiver.deliveries.suffix(1)
            for secret in [webhook.secret, secret] {
                try await OtherWebhookVerifier.expect(
                    Array(last), signedWith: secret, in: deployment)
            }
            let ended = try await deployment.tool.run(
                ["webhooks", "rotate-secret", webhook.id, "--overlap", "0"])
            _ = try await ada.link(deployment.google, as: "ada-g")
            try await deployment.settled(webhook.id)
            let after = try #require(receiver.deliveries.last)
            try await OtherWebhookVerifier.expect(
                [after], signedWith: String(ended.output.dropLast()), in: deployment)
            await receiver.stopListening()
        }
    }

    @Test func `a secret outlives the encryption key that wrapped it`() async throws {
        try await Deployment.with { deployment in
            let receiver = try WebhookReceiver()
            try await receiver.listenAgain()
            let server = try await deployment.serve()
            let webhook = try await deployment.addWebhook(receiver)
            let tool = deployment.tool
            let listed = try await tool.run(["keys", "list"]).output.split(separator: "\n")
            let old = try #require(
                listed.map { $0.split(separator: "\t").map(String.init) }
                    .first { $0[0] == "encryption" && $0[2].hasPrefix("in use") })[1]
            let made = try await tool.run(["keys", "rotate", "encryption", "--after", "5"])
            #expect(made.status == 0, "\(made.errors)")
            let kept = try await tool.run(["keys", "remove", "encryption", old])
            #expect(kept.status == 1 && kept.errors.contains("secrets of webhooks"))
            let rewrapped = try await eventually(
                "the new key to be used", within: Deployment.deliveryWait
            ) {
                let outcome = try await tool.run(["keys", "rewrap"])
                return outcome.status == 0 ? outcome : nil
            }
            #expect(rewrapped.output.contains("rewrapped 1 webhook secrets"))
            let removed = try await tool.run(["keys", "remove", "encryption", old])
            #expect(removed.status == 0, "\(removed.errors)")
            try await server.kill()
            let next = try await deployment.serve()
            var ada = Device(next.client)
            try await ada.signIn(deployment.apple, as: "ada")
            try await deployment.settled(webhook.id)
            try await deployment.expectAllTold(receiver.deliveries)
            try await OtherWebhookVerifier.expect(
                receiver.deliveries, signedWith: webhook.secret, in: deployment)
            await receiver.stopListening()
        }
    }

    @Test func `unknown webhooks are reported`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let id = "0190a1b2-c3d4-7000-8000-000000000001"
            for words in [
                ["remove", id], ["enable", id], ["disable", id], ["rotate-secret", id],
                ["replay", id, "--all"],
            ] {
                let outcome = try await deployment.tool.run(["webhooks"] + words)
                #expect(outcome.status == 1 && outcome.errors.contains("no webhook"), "\(words)")
            }
            let beyond = try await deployment.tool.run(
                ["webhooks", "add", "https://example.org/", "--from", "99999"])
            #expect(beyond.status == 1 && beyond.errors.contains("after the end of the log"))
            #expect(try await deployment.tool.run(["webhooks", "list"]).output.isEmpty)
            try await server.stop()
        }
    }
}
