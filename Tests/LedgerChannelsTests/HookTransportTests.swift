import Encodings
import Foundation
import HTTPClient
import Ledger
import LedgerEngine
import LedgerMessages
import LoopbackServers
import StandardWebhooks
import Testing

@testable import LedgerChannels

/// SMS over HTTP, to servers on real sockets.
@Suite(.timeLimit(.minutes(3))) struct HookTransportTests {
    private let message = RenderedMessage(
        id: MessageID(bits: 1), tenant: .default, channel: .sms, template: .signInCode,
        language: .german, recipient: "+4915112345678",
        text: MessageText(subject: nil, body: "Laden: 4930 & mehr ü"))

    private func server(_ status: Int, _ fields: String = "") throws -> LoopbackServer {
        try LoopbackServer(
            answer: Array("HTTP/1.1 \(status) X\r\n\(fields)Content-Length: 0\r\n\r\n".utf8))
    }

    private func hook(_ server: LoopbackServer, _ secret: WebhookSecret) -> HookTransport {
        HookTransport(
            url: "http://127.0.0.1:\(server.port)/sms", secret: secret,
            now: { Timestamp(seconds: 1_795_635_164) })
    }

    @Test func `the hook gets a signed request with the text`() async throws {
        let server = try server(202)
        let secret = WebhookSecret.generate()
        #expect(await hook(server, secret).send(message) == .accepted(code: 202))
        let request = try #require(server.requestHeads.first)
        let body = try #require(request.components(separatedBy: "\r\n\r\n").last)
        let id = "00000000-0000-0000-0000-000000000001"
        #expect(
            body == """
                {"type":"message.sms","timestamp":"2026-11-25T19:32:44.000000Z","data":\
                {"tenant":"default","message_id":"\(id)","to":"+4915112345678",\
                "text":"Laden: 4930 & mehr ü","template":"sign_in_code","language":"de"}}
                """)
        let signature = secret.signature(id: id, seconds: 1_795_635_164, body: Array(body.utf8))
        #expect(request.contains("webhook-id: \(id)\r\n"))
        #expect(request.contains("webhook-signature: \(signature)\r\n"))
    }

    @Test func `the preset posts a form with basic authentication`() async throws {
        let server = try server(201)
        let transport = TwilioTransport(
            base: "http://127.0.0.1:\(server.port)", account: "AC1", token: "token",
            from: "+4930123456")
        #expect(await transport.send(message) == .accepted(code: 201))
        let request = try #require(server.requestHeads.first)
        #expect(request.hasPrefix("POST /2010-04-01/Accounts/AC1/Messages.json HTTP/1.1\r\n"))
        #expect(
            request.contains("Authorization: Basic \(Base64.encode(Array("AC1:token".utf8)))\r\n"))
        #expect(
            request.hasSuffix(
                "To=%2B4915112345678&From=%2B4930123456&Body=Laden%3A%204930%20%26%20mehr%20%C3%BC")
        )
    }

    @Test(arguments: [
        (400, MessageOutcome.refused(code: 400)), (410, .refused(code: 410)),
        (422, .refused(code: 422)), (401, .deferred(code: 401, .unauthorized)),
        (404, .deferred(code: 404, .busy)), (302, .deferred(code: 302, .busy)),
        (500, .deferred(code: 500, .busy)),
    ])
    func `a status is final or not`(status: Int, outcome: MessageOutcome) async throws {
        let server = try server(status)
        #expect(await hook(server, .generate()).send(message) == outcome)
    }

    @Test func `the hook may ask for a pause`() async throws {
        let server = try server(429, "Retry-After: 7\r\n")
        #expect(
            await hook(server, .generate()).send(message)
                == .deferred(code: 429, .busy, retryAfterSeconds: 7))
    }

    @Test func `plain http goes to this machine only`() async {
        let transport = HookTransport(
            url: "http://hook.example/", secret: .generate(), now: { Timestamp(seconds: 0) })
        #expect(await transport.send(message) == .deferred(code: nil, .broken))
    }

    @Test func `the development outbox keeps what it is given, and sends it where it is told to`()
        async throws
    {
        let outbox = DevelopmentOutbox()
        #expect(await outbox.send(message) == .accepted(code: nil))
        let page = String(decoding: DevelopmentOutbox.page(of: [outbox]), as: UTF8.self)
        #expect(page.contains(#""text":"Laden: 4930 & mehr ü""#))
        #expect(
            page.hasPrefix(#"{"messages":[{"message_id":"00000000-0000-0000-0000-000000000001""#))
        let server = try server(202)
        let next = DevelopmentOutbox(to: hook(server, .generate()))
        #expect(await next.send(message) == .accepted(code: 202))
        #expect(server.requests == 1)
    }
}
