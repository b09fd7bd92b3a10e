import Foundation
import HTTPClient
import Ledger
import LedgerEngine
import LedgerMessages
import LoopbackServers
import Testing

@testable import LedgerChannels

/// E-mails to a mail server on a real socket, which takes them, refuses them or breaks off.
@Suite(.timeLimit(.minutes(3))) struct SMTPTransportTests {
    private let sink: MailSink

    init() throws {
        sink = try MailSink()
    }

    private func transport(
        user: String? = nil, password: String? = nil, requiresTLS: Bool = false
    ) throws -> SMTPTransport {
        let server = try #require(
            MailServer(
                "smtp://127.0.0.1:\(sink.port)", user: user, password: password,
                requiresTLS: requiresTLS))
        let mailbox = try #require(Mailbox("Example <noreply@example.com>"))
        return SMTPTransport(server, from: mailbox, now: { Timestamp(seconds: 1_795_635_164) })
    }

    private func message(
        _ number: UInt128 = 1, to recipient: String = "ada@example.org", body: String = "Hello\n"
    ) -> RenderedMessage {
        RenderedMessage(
            id: MessageID(bits: number), tenant: .default, channel: .email,
            template: .signInCode, language: .english, recipient: recipient,
            text: MessageText(subject: "Your code", body: body))
    }

    @Test func `a message arrives with its envelope, also one with dots`() async throws {
        let transport = try transport()
        let outcome = await transport.send(message(body: "..\n.\nend\n"))
        #expect(outcome == .accepted(code: 250))
        let mail = try #require(sink.mails.first)
        #expect(mail.sender == "noreply@example.com")
        #expect(mail.recipients == ["ada@example.org"])
        #expect(mail.content.hasSuffix("\r\n\r\n..\r\n.\r\nend\r\n"))
        #expect(mail.content.contains("\r\nTo: ada@example.org\r\n"))
        // The connection is kept, and takes further messages.
        for number: UInt128 in 2...5 {
            #expect(await transport.send(message(number)) == .accepted(code: 250))
        }
        #expect(sink.mails.count == 5)
        #expect(sink.commands.count { $0.hasPrefix("EHLO") } == 1)
    }

    @Test(arguments: [
        ("550 5.1.1 unknown: ada@example.org", MessageOutcome.refused(code: 550)),
        ("552 full", .refused(code: 552)), ("450 later", .deferred(code: 450, .busy)),
        ("421 closing", .deferred(code: 421, .busy)),
        ("503 bad sequence", .deferred(code: 503, .busy)),
        ("530 no", .deferred(code: 530, .unauthorized)),
    ])
    func `an answer to the recipient is final or not`(
        answer: String, outcome: MessageOutcome
    ) async throws {
        sink.behave { $0.recipient = answer }
        #expect(await (try transport()).send(message()) == outcome)
        sink.behave { $0 = MailSink.Behaviour() }
        sink.behave { $0.content = answer }
        #expect(await (try transport()).send(message()) == outcome)
        #expect(sink.mails.isEmpty)
    }

    @Test func `what is said before a message is about the server, not about the message`()
        async throws
    {
        sink.behave { $0.greeting = "554 no service" }
        #expect(await (try transport()).send(message()) == .deferred(code: 554, .busy))
    }

    @Test func `a connection that ends is no answer`() async throws {
        sink.behave { $0.dropsContent = true }
        #expect(
            await (try transport()).send(message(body: String(repeating: "x\n", count: 500_000)))
                == .deferred(code: nil, .broken))
        #expect(sink.mails.isEmpty)
        sink.behave { $0.dropsContent = false }
        sink.behave { $0.dropsAnswer = true }
        #expect(await (try transport()).send(message()) == .deferred(code: nil, .broken))
        #expect(sink.mails.count == 1)
    }

    @Test func `a stopped server is unreachable, and is used again once it runs`() async throws {
        let transport = try transport()
        #expect(await transport.send(message()) == .accepted(code: 250))
        sink.stop()
        var outcome = await transport.send(message(2))
        // The kept connection may end before it is found closed.
        if outcome == .deferred(code: nil, .broken) { outcome = await transport.send(message(2)) }
        #expect(outcome == .deferred(code: nil, .unreachable))
        try sink.restart()
        #expect(await transport.send(message(2)) == .accepted(code: 250))
        #expect(sink.mails.count == 2)
    }

    @Test func `user and password are used, and nothing is refused for good without them`()
        async throws
    {
        sink.behave { $0.credentials = "ledger\u{0}secret" }
        let right = try transport(user: "ledger", password: "secret")
        #expect(await right.send(message()) == .accepted(code: 250))
        #expect(sink.mails.first?.credentials == "ledger\u{0}secret")
        let wrong = try transport(user: "ledger", password: "other")
        #expect(await wrong.send(message()) == .deferred(code: 535, .unauthorized))
        #expect(await (try transport()).send(message()) == .deferred(code: 530, .unauthorized))
    }

    @Test func `nothing is sent in clear where TLS is required`() async throws {
        let transport = try transport(user: "ledger", password: "secret", requiresTLS: true)
        #expect(await transport.send(message()) == .deferred(code: nil, .untrusted))
        #expect(!sink.commands.contains { $0.hasPrefix("MAIL") || $0.hasPrefix("AUTH") })
    }

    @Test func `an address outside ASCII goes to a server with SMTPUTF8, as it is stored`()
        async throws
    {
        sink.behave {
            $0.extensions = ["SIZE 1000000", "SMTPUTF8"]
            $0.credentials = "ledger\u{0}secret"
        }
        let transport = try transport(user: "ledger", password: "secret")
        let address = "jos\u{E9}@xn--mnchen-3ya.example"
        #expect(await transport.send(message()) == .accepted(code: 250))
        #expect(await transport.send(message(2, to: address)) == .accepted(code: 250))
        let mail = try #require(sink.mails.last)
        #expect(mail.recipients.map { Array($0.utf8) } == [Array(address.utf8)])
        #expect(mail.content.contains("\r\nTo: \(address)\r\n"))
        // Only this message needs it.
        let senders = sink.commands.filter { $0.hasPrefix("MAIL") }
        #expect(senders.map { $0.hasSuffix(" SMTPUTF8") } == [false, true], "\(senders)")
    }

    @Test(arguments: [[], ["SIZE 1000000"], ["SMTPUTF8X", "X-SMTPUTF8"]])
    func `no address outside ASCII goes to a server without SMTPUTF8, for good`(
        extensions: [String]
    ) async throws {
        sink.behave { $0.extensions = extensions }
        let transport = try transport()
        #expect(await transport.send(message()) == .accepted(code: 250))
        let sent = sink.commands.count { $0.hasPrefix("RCPT") }
        #expect(
            await transport.send(message(2, to: "jos\u{E9}@example.org"))
                == .refused(code: nil, .noSMTPUTF8))
        #expect(sink.commands.count { $0.hasPrefix("RCPT") } == sent)
        // Messages to other addresses are sent as before.
        #expect(await transport.send(message(3)) == .accepted(code: 250))
        #expect(sink.mails.count == 2)
        // A server that is away is no server without it.
        sink.stop()
        #expect(
            await transport.send(message(4, to: "jos\u{E9}@example.org"))
                == .deferred(code: nil, .unreachable))
    }

    @Test(arguments: [
        "", "http://127.0.0.1", "smtp:/127.0.0.1", "smtp://", "smtp://user@host",
        "smtp://host:0", "smtp://host:99999", "smtp://host:x", "smtp://host/path",
        "smtp://a b", "smtp://[::1", "smtp://::1", "SMTP://host",
    ])
    func `another URL is refused`(url: String) {
        #expect(MailServer(url) == nil)
    }

    @Test func `a stopped transport ends its attempts`() async throws {
        sink.behave { $0.greeting = "" }
        let transport = try transport()
        async let outcome = transport.send(message())
        while sink.connectionCount == 0 { await Task.yield() }
        transport.stop()
        #expect(await outcome == .deferred(code: nil, .stopped))
        #expect(await transport.send(message()) == .deferred(code: nil, .stopped))
    }
}
