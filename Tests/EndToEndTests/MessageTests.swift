import Cryptography
import Foundation
import Ledger
import LedgerEngine
import LedgerMessages
import LedgerPostgres
import LedgerTestSupport
import LoopbackServers
import Postgres
import Testing

/// Messages from the outbox of a running ledger to a mail server, and what support sees of them.
@Suite(.timeLimit(.minutes(5))) struct MessageTests {
    private static let address = "ada@private.example"
    private static let code = "KX4-93B"
    private let sink: MailSink

    init() throws {
        sink = try MailSink()
    }

    private var settings: [String: String] {
        [
            "LEDGER_SMTP_URL": "smtp://127.0.0.1:\(sink.port)",
            "LEDGER_MAIL_FROM": "Example <noreply@example.com>",
        ]
    }

    /// Writes a message as a command of the ledger would.
    private func write(
        _ number: UInt128, _ deployment: Deployment, account: AccountID? = nil
    ) async throws {
        let keys = deployment.path("keys")
        let file = try #require(
            try FileManager.default.contentsOfDirectory(atPath: keys).first {
                $0.hasPrefix("encryption-")
            })
        let bytes = try #require(FileManager.default.contents(atPath: "\(keys)/\(file)"))
        let keyring = WrappingKeyring(
            currentID: String(file.dropFirst("encryption-".count).dropLast(".key".count)),
            current: try #require(SymmetricKey(bytes: Array(bytes))),
            macs: MACKeys(current: SequencerFixture.macKey))
        let message = try OutgoingMessage(
            id: MessageID(bits: number), tenant: .default, account: account, channel: .email,
            to: Self.address, content: .code(.signInCode, Self.code, minutes: 10),
            language: .german, lifetimeSeconds: 600)
        let session = Session(url: deployment.superuserURL, applicationName: "a test")
        try await session.run { connection in
            try MessageWrites.insert([message], keyring: keyring, on: connection)
        }
        await session.close()
    }

    private func rows(_ deployment: Deployment, _ sql: String) async throws -> [String] {
        let session = Session(url: deployment.superuserURL, applicationName: "a test")
        let texts = try await session.run { connection in
            let rows = try connection.query(Statement("a_test", sql))
            return try (0..<rows.rowCount).map { try rows.text($0, 0) }
        }
        await session.close()
        return texts
    }

    private func until(_ state: String, _ deployment: Deployment) async throws {
        try await eventually("the messages to be \(state)", within: .seconds(60)) {
            let states = try await rows(
                deployment, "SELECT concat_ws(' ', state, fault) FROM messages")
            return states.allSatisfy { $0 == state } && !states.isEmpty ? true : nil
        }
    }

    @Test func `a message is sent, and support sees that, but neither address nor code`()
        async throws
    {
        try await Deployment.with(settings: settings) { deployment in
            let server = try await deployment.serve()
            var ada = Device(server.client)
            try await ada.signIn(deployment.apple, as: "ada", email: "ada@apple.example")
            try await write(1, deployment, account: AccountID(ada.userID))
            try await until("sent", deployment)
            let mail = try #require(sink.mails.first)
            #expect(mail.recipients == [Self.address] && mail.sender == "noreply@example.com")
            #expect(mail.content.contains("\r\n\r\nAnmeldecode f=C3=BCr AccountLedger:\r\n"))
            #expect(mail.content.contains("\r\n\(Self.code)\r\n"))

            let tool = try await deployment.tool.run(["messages", "--account", ada.userID])
            #expect(tool.status == 0, "\(tool.errors)")
            #expect(tool.output.contains("  email  sign_in_code  de  sent  1 attempt  code 250"))
            #expect(tool.output.hasSuffix("1 message\n"))
            let none = try await deployment.tool.run(["messages", "--state", "failed"])
            #expect(none.output == "0 messages\n")
            let key = try await deployment.apiKey("support")
            let answer = try await server.client.call(
                "GET", "/v1/audit/messages?account_id=\(ada.userID)", token: key)
            #expect(answer.status == 200, "\(answer)")
            let page = String(decoding: answer.body, as: UTF8.self)
            #expect(page.contains(#""template":"sign_in_code""#) && page.contains(#""more":false"#))
            let metrics = try await server.admin.call("GET", "/metrics")
            let text = String(decoding: metrics.body, as: UTF8.self)
            #expect(text.contains(#"ledger_messages_total{channel="email",outcome="sent"} 1"#))
            #expect(text.contains(#"ledger_messages_pending{channel="email"} 0"#))
            #expect(try await server.stop() == 0)
            let dump = try await rows(
                deployment, "SELECT concat(m::text, encode(sealed, 'escape')) FROM messages m")
            for shown in dump + [tool.output, page, text, server.log] {
                #expect(!shown.contains("private.example") && !shown.contains(Self.code))
            }
        }
    }

    @Test func `a tenant's own text is sent, and doctor lists it`() async throws {
        try await Deployment.with(settings: settings) { deployment in
            try deployment.configure(
                providers: Deployment.addressProviders,
                members: """
                    "messages":{"product":"Laden","texts":{"de":{"sign_in_code":{
                        "subject":"{product}: Ihr Code",
                        "body":["Moin,","{code}","Er gilt {minutes} Minuten."]}}}},
                    """)
            let server = try await deployment.serve()
            try await write(1, deployment)
            try await until("sent", deployment)
            let mail = try #require(sink.mails.first)
            #expect(mail.content.contains("\r\nSubject: Laden: Ihr Code\r\n"))
            #expect(
                mail.content.hasSuffix(
                    "\r\n\r\nMoin,\r\n\r\n\(Self.code)\r\n\r\nEr gilt 10 Minuten.\r\n"))
            let doctor = try await deployment.tool.run(["doctor", "--offline"])
            let own = "de.sign_in_code.body, de.sign_in_code.subject"
            #expect(
                doctor.output.contains("ok       texts: tenant default has its own \(own)\n"),
                "\(doctor.output)")
            #expect(try await server.stop() == 0)
        }
    }

    @Test func `a mail server that is stopped for a while loses nothing`() async throws {
        try await Deployment.with(settings: settings) { deployment in
            sink.stop()
            let server = try await deployment.serve()
            try await write(1, deployment)
            try await until("pending unreachable", deployment)
            try sink.restart()
            try await until("sent", deployment)
            #expect(sink.mails.count == 1)
            #expect(server.log.contains("messages by email wait: unreachable"))
            try await server.stop()
        }
    }

    @Test func `a server that is killed before it writes the outcome repeats a message once`()
        async throws
    {
        try await Deployment.with(settings: settings) { deployment in
            sink.behave { $0.answersContent = false }
            let first = try await deployment.serve()
            try await write(1, deployment)
            try await eventually("the message to arrive", within: .seconds(60)) {
                sink.mails.isEmpty ? nil : true
            }
            try await first.kill()
            sink.behave { $0.answersContent = true }
            let second = try await deployment.serve()
            // As if the lease of the killed process had lapsed.
            _ = try await rows(
                deployment, "UPDATE messages SET next_attempt_at = now() RETURNING state")
            try await until("sent", deployment)
            #expect(sink.mails.count == 2)
            let ids = sink.mails.map { mail in
                mail.content.components(separatedBy: "\r\n").first { $0.hasPrefix("Message-ID:") }
            }
            #expect(ids[0] != nil && ids[0] == ids[1])
            try await second.stop()
        }
    }

    @Test func `the development mode keeps messages at its page and sends none`() async throws {
        try await Deployment.with(settings: ["LEDGER_MODE": "development"]) { deployment in
            let server = try await deployment.serve()
            try await write(1, deployment)
            try await until("sent", deployment)
            let page = try await server.client.call("GET", "/dev/outbox")
            #expect(page.status == 200)
            let text = String(decoding: page.body, as: UTF8.self)
            #expect(text.contains(#""to":"\#(Self.address)""#) && text.contains(Self.code))
            #expect(try await server.client.call("POST", "/dev/outbox").status == 405)
            let foreign = try await server.client.call(
                "GET", "/dev/outbox", headers: ["Host": "evil.example"])
            #expect(foreign.status == 421 || foreign.status == 200)
            #expect(sink.commands.isEmpty)
            try await server.stop()
        }
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            #expect(try await server.client.call("GET", "/dev/outbox").status == 404)
            try await server.stop()
        }
    }
}
