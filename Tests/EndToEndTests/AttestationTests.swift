import Foundation
import LedgerTestSupport
import Testing

/// The program with a service of the operator that decides which anonymous accounts are opened.
@Suite struct AttestationTests {
    @Test func `the service is asked about new accounts alone, and no secret reaches the log`()
        async throws
    {
        try await Deployment.with { deployment in
            let receiver = try WebhookReceiver()
            try await receiver.listenAgain()
            receiver.answer { delivery in
                String(decoding: delivery.body, as: UTF8.self).contains("genuine") ? 200 : 403
            }
            let secret = "whsec_\(Data(repeating: 9, count: 32).base64EncodedString())"
            try deployment.configure(
                providers: """
                    {"name":"anonymous","type":"anonymous",
                     "attestation":{"url":"\(receiver.url)","secret":"\(secret)"}}
                    """)
            let server = try await deployment.serve()
            var bodies = ""
            func signIn(_ members: [String: String]) async throws -> WireClient.Answer {
                let answer = try await server.client.call(
                    "POST", "/v1/auth/sign-in/anonymous", members)
                bodies += String(decoding: answer.body, as: UTF8.self)
                return answer
            }
            let opened = try await signIn(["attestation": "genuine"])
            let known = try #require(opened.text("anonymous_secret"), "\(opened)")
            #expect(try await signIn([:]).errorCode == "INVALID_REQUEST")
            #expect(
                try await signIn(["attestation": "made up"]).errorCode
                    == "INVALID_PROVIDER_TOKEN")
            try await OtherWebhookVerifier.expect(
                receiver.deliveries, signedWith: secret, in: deployment)
            await receiver.stopListening()
            let away = try await signIn(["attestation": "genuine"])
            #expect(away.status == 503 && away.header("Retry-After") == "5")
            let again = try await signIn(["anonymous_secret": known])
            #expect(again.text("user_id") == opened.text("user_id"))
            #expect(receiver.deliveries.count == 2)

            #expect(try await server.stop() == 0)
            for text in ["genuine", "made up", "whsec_", String(secret.dropFirst(6)), known] {
                #expect(!server.log.contains(text), "\(text)")
                #expect(text == known || !bodies.contains(text), "\(text)")
            }
        }
    }
}
