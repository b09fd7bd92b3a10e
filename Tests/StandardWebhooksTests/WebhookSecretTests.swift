import Testing

@testable import StandardWebhooks

/// Signatures of webhooks: the vectors are those of the standard-webhooks libraries.
@Suite struct WebhookSecretTests {
    private static let text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    @Test func `the signature is the one of other libraries`() throws {
        let secret = try #require(WebhookSecret(text: Self.text))
        let signature = secret.signature(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", seconds: 1_614_265_330,
            body: Array(#"{"test": 2432232314}"#.utf8))
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test func `a secret is read as it is written`() throws {
        let secret = WebhookSecret.generate()
        #expect(secret.text.hasPrefix("whsec_"))
        #expect(WebhookSecret(text: secret.text) == secret)
        #expect(WebhookSecret(text: Self.text)?.text == Self.text)
        #expect(WebhookSecret.generate() != secret)
    }

    @Test(arguments: [
        "", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw=",
    ])
    func `a malformed secret is refused`(text: String) {
        #expect(WebhookSecret(text: text) == nil)
    }

    @Test func `a secret has 24 to 64 bytes`() {
        for count in [0, 23, 65] {
            #expect(WebhookSecret(bytes: Array(repeating: 1, count: count)) == nil)
        }
        for count in [24, 64] {
            #expect(WebhookSecret(bytes: Array(repeating: 1, count: count)) != nil)
        }
    }

    @Test func `a request is signed by every secret, over its own time`() throws {
        let secrets = [WebhookSecret.generate(), WebhookSecret.generate()]
        let body = Array("{}".utf8)
        let request = WebhookRequest(
            url: "https://example.org/", id: "id", seconds: 7, body: body, secrets: secrets)
        #expect(request.field("webhook-id") == "id")
        #expect(request.field("webhook-timestamp") == "7")
        #expect(request.field("Content-Type") == "application/json")
        #expect(
            request.field("webhook-signature")
                == secrets.map { $0.signature(id: "id", seconds: 7, body: body) }
                .joined(separator: " "))
        #expect(request.field("webhook-other") == nil)
    }
}
