import HTTPClient
import LoopbackServers
import Testing

/// Connections that `doctor` tries: to a mail server and to HTTP hosts on real sockets, which get nothing to act on.
@Suite(.timeLimit(.minutes(3))) struct ReachTests {
    private static let limit = Duration.seconds(60)

    private func reach(
        _ sink: MailSink, user: String? = nil, password: String? = nil
    ) async throws -> MailOutcome {
        let server = try #require(
            MailServer("smtp://127.0.0.1:\(sink.port)", user: user, password: password))
        return await MailClient(server).reach(within: Self.limit)
    }

    @Test func `a mail server takes a session, and gets no message`() async throws {
        let sink = try MailSink()
        #expect(try await reach(sink) == .accepted(code: 250))
        #expect(sink.commands.contains { $0.hasPrefix("EHLO") })
        #expect(!sink.commands.contains { $0.hasPrefix("MAIL") })
        #expect(sink.mails.isEmpty)
    }

    @Test func `a mail server takes addresses outside ASCII or not`() async throws {
        let sink = try MailSink()
        let server = try #require(MailServer("smtp://127.0.0.1:\(sink.port)"))
        let client = MailClient(server)
        #expect(
            await client.reach(within: Self.limit, needingSMTPUTF8: true) == .noSMTPUTF8)
        sink.behave { $0.extensions = ["SMTPUTF8"] }
        #expect(
            await client.reach(within: Self.limit, needingSMTPUTF8: true)
                == .accepted(code: 250))
        #expect(!sink.commands.contains { $0.hasPrefix("MAIL") })
    }

    @Test func `a wrong password, a refused session and a stopped server are told apart`()
        async throws
    {
        let sink = try MailSink()
        sink.behave { $0.credentials = "ledger\u{0}secret" }
        let right = try await reach(sink, user: "ledger", password: "secret")
        guard case .accepted = right else {
            Issue.record("\(right)")
            return
        }
        let wrong = try await reach(sink, user: "ledger", password: "other")
        #expect(wrong == .failed(.unauthorized, code: 535))
        sink.behave { $0.greeting = "554 no service" }
        #expect(try await reach(sink) == .failed(.busy, code: 554))
        sink.stop()
        #expect(try await reach(sink) == .failed(.transfer(.unreachable), code: nil))
    }

    @Test func `a host is connected to without a request`() async throws {
        let server = try LoopbackServer(answer: [])
        let url = "http://127.0.0.1:\(server.port)/token?secret=1"
        try await HTTPClient().reach(url, within: Self.limit)
        let heads = server.requestHeads.filter { !$0.isEmpty }
        #expect(heads.isEmpty)
        // Speaks no TLS.
        await #expect(throws: TransferFault.self) {
            try await HTTPClient().reach(
                "https://127.0.0.1:\(server.port)", within: Self.limit)
        }
        await #expect(throws: TransferFault.unreachable) {
            try await HTTPClient().reach("http://127.0.0.1:1", within: Self.limit)
        }
        await #expect(throws: TransferFault.unacceptableAddress) {
            try await HTTPClient().reach("http://example.com", within: Self.limit)
        }
    }
}
