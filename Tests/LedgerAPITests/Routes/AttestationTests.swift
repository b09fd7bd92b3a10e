import JSON
import Ledger
import LedgerSignIn
import LedgerTestSupport
import StandardWebhooks
import Testing

/// Anonymous accounts of a provider that asks a service of the operator about each, over real HTTP.
@Suite(.overBothTransports) struct AttestationTests {
    private static let path = "/v1/auth/sign-in/anonymous"

    private let secret = WebhookSecret.generate()
    private let receiver: WebhookReceiver

    init() throws {
        receiver = try WebhookReceiver()
    }

    /// Runs the body with a ledger whose service accepts one attestation, and refuses any other.
    private func with(
        networkLimit: Int = 100, _ body: (TestService) async throws -> Void
    ) async throws {
        try await receiver.listenAgain()
        receiver.answer { delivery in
            String(decoding: delivery.body, as: UTF8.self).contains(#":"genuine"}"#) ? 204 : 403
        }
        let service = try TestService {
            $0.anonymous = OpeningBudget(networkLimit: networkLimit, tenantLimit: 100)
            $0.attestation = AttestationHook(url: receiver.url, secret: secret)
            $0.proxies = "127.0.0.1,::1"
        }
        try await body(service)
        await receiver.stopListening()
    }

    private func open(
        _ service: TestService, _ attestation: String, from network: Int = 1
    ) async throws -> Answer {
        try await service.send(
            "POST", Self.path, "{\"attestation\":\"\(attestation)\"}",
            headers: [("X-Forwarded-For", "198.51.100.\(network)")])
    }

    @Test func `an accepted attestation opens an account, and the secret signs in without one`()
        async throws
    {
        try await with { service in
            let opened = try await open(service, "genuine")
            let person = try Person(opened)
            #expect(person.isNew && person.methods == ["anon"])
            let asked = try #require(receiver.deliveries.first)
            let (now, body) = (service.clock.now, String(decoding: asked.body, as: UTF8.self))
            #expect(
                body == """
                    {"type":"attestation.anonymous","timestamp":"\(now.description)","data":\
                    {"tenant":"default","provider":"anonymous","attestation":"genuine"}}
                    """)
            #expect(asked.timestamp == "\(now.seconds)")
            let signature = secret.signature(id: asked.id, seconds: now.seconds, body: asked.body)
            #expect(asked.signature == signature)

            let known = try #require(opened.text("anonymous_secret"))
            for rest in ["", ",\"attestation\":\"made up\""] {
                let again = try await service.send(
                    "POST", Self.path, "{\"anonymous_secret\":\"\(known)\"\(rest)}")
                #expect(try Person(again).userID == person.userID)
            }
            #expect(receiver.deliveries.count == 1)
            let log = service.ledger.events(of: .default).map { "\($0)" }.joined()
            #expect(!log.contains("genuine"))
        }
    }

    @Test func `a body without an attestation, or with another value, is refused unasked`()
        async throws
    {
        try await with { service in
            let long = String(repeating: "x", count: 16_385)
            for member in ["", "null", "\"\"", "7", "\"\(long)\""] {
                let body = member.isEmpty ? "{}" : "{\"attestation\":\(member)}"
                let answer = try await service.send("POST", Self.path, body)
                #expect(answer.summary == "400 INVALID_REQUEST", "\(member.prefix(9))")
                #expect(answer.detail("field")?.string == "attestation")
            }
            let unwanted = try await service.send(
                "POST", Self.path, #"{"attestation":"genuine","create_account":false}"#)
            #expect(unwanted.summary == "404 ACCOUNT_NOT_FOUND")
            // The answer holds a secret, so no key repeats it.
            let keyed = try await service.send(
                "POST", Self.path, #"{"attestation":"genuine"}"#,
                headers: [("Idempotency-Key", "k")])
            #expect(keyed.summary == "400 INVALID_REQUEST")
            #expect(receiver.deliveries.isEmpty && service.log().isEmpty)
        }
    }

    @Test func `a refused attestation opens nothing and uses up no budget, an accepted one does`()
        async throws
    {
        try await with(networkLimit: 1) { service in
            for _ in 0..<2 {
                let refused = try await open(service, "made up")
                #expect(refused.summary == "401 INVALID_PROVIDER_TOKEN")
                #expect(!refused.body.contains("made up"))
            }
            #expect(service.log().isEmpty)
            #expect(try await open(service, "genuine").status == 200)
            // Without budget, no service is asked.
            let limited = try await open(service, "genuine")
            #expect(limited.summary == "429 RATE_LIMITED" && limited["Retry-After"] == "3600")
            #expect(receiver.deliveries.count == 3)
        }
    }

    @Test func `a network with too many refused attestations calls no service for an hour`()
        async throws
    {
        try await with { service in
            for number in 0..<AddressCodes.exchangesPerNetwork {
                #expect(try await open(service, "made up \(number)").status == 401)
            }
            let limited = try await open(service, "genuine")
            #expect(limited.summary == "429 RATE_LIMITED" && limited["Retry-After"] == "3600")
            #expect(receiver.deliveries.count == AddressCodes.exchangesPerNetwork)
            #expect(try await open(service, "genuine", from: 2).status == 200)
            service.clock.advance(seconds: 3600)
            #expect(try await open(service, "genuine").status == 200)
        }
    }

    @Test func `without a decision of the service the client is asked to come again`()
        async throws
    {
        try await with(networkLimit: 1) { service in
            for status in [302, 400, 401, 404, 429, 500] {
                receiver.answer { _ in status }
                let answer = try await open(service, "genuine")
                #expect(answer.summary == "503 UNAVAILABLE", "\(status)")
                #expect(answer["Retry-After"] == "5")
            }
            receiver.answer { _ in 200 }
            let opened = try await open(service, "genuine")
            let known = try #require(opened.text("anonymous_secret"), "\(opened.body)")
            await receiver.stopListening()
            let unreachable = try await open(service, "genuine", from: 2)
            #expect(unreachable.summary == "503 UNAVAILABLE")
            #expect(unreachable["Retry-After"] == "5")
            let again = try await service.send(
                "POST", Self.path, "{\"anonymous_secret\":\"\(known)\"}")
            #expect(again.status == 200)
        }
    }

    @Test func `a provider without a service ignores attestations`() async throws {
        let service = try TestService {
            $0.anonymous = OpeningBudget(networkLimit: 9, tenantLimit: 9)
        }
        #expect(try await open(service, "any").status == 200)
    }
}
