import Foundation
import LedgerTestSupport
import LoopbackServers
import Testing

/// E-mail addresses outside ASCII with a server, its database and a mail server.
@Suite(.timeLimit(.minutes(5))) struct InternationalAddressTests {
    private static let password = "correct horse battery staple"
    private static let mary = "\u{43C}\u{430}\u{440}\u{438}\u{44F}@example.com"
    /// The same to the eye: the second letter is Latin.
    private static let other = "\u{43C}a\u{440}\u{438}\u{44F}@example.com"
    private static let jose = "jos\u{E9}@example.com"
    private static let md5Crypt = "$1$abc$Kb85XxsXB.VXinPhbS4431"
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

    private func askForCode(
        _ server: ServerProcess, _ address: String
    ) async throws -> WireClient.Answer {
        try await server.client.call("POST", "/v1/auth/codes/email", ["address": address])
    }

    private func signIn(
        _ server: ServerProcess, _ address: String, _ password: String = password
    ) async throws -> WireClient.Answer {
        try await server.client.call(
            "POST", "/v1/auth/sign-in/password", ["email": address, "password": password])
    }

    /// Signs up with the code of the mail and returns the account.
    private func signUp(_ server: ServerProcess, _ address: String) async throws -> String {
        let begun = try await server.client.call(
            "POST", "/v1/auth/sign-up/password", ["email": address, "password": Self.password])
        #expect(begun.status == 200, "\(begun)")
        let mail = try await eventually("the mail to arrive", within: .seconds(60)) {
            sink.mails.first { $0.recipients.map { Array($0.utf8) } == [Array(address.utf8)] }
        }
        let lines = mail.content.components(separatedBy: "\r\n")
        let code = try #require(lines.first { $0.count == 6 && $0.allSatisfy(\.isNumber) })
        let opened = try await server.client.call(
            "POST", "/v1/auth/sign-in/password",
            ["challenge_id": begun.text("challenge_id") ?? "", "code": code])
        #expect(opened.status == 200, "\(opened)")
        return try #require(opened.text("user_id"))
    }

    @Test func `they sign up, sign in, are found and are imported, where the tenant takes them`()
        async throws
    {
        try await Deployment.with(settings: settings) { deployment in
            sink.behave { $0.extensions = ["SMTPUTF8"] }
            try deployment.configure(providers: Deployment.addressProviders)
            let first = try await deployment.serve()
            #expect(try await askForCode(first, Self.mary).status == 400)
            #expect(try await signIn(first, Self.mary).status == 401)
            #expect(try await first.stop() == 0)

            // It is no rule, so nothing has to be recorded.
            try deployment.configure(
                providers: Deployment.addressProviders, members: #""email_local_parts":"any","#)
            let server = try await deployment.serve()
            let mary = try await signUp(server, Self.mary)
            #expect(try await signIn(server, Self.other).status == 401)
            let other = try await signUp(server, Self.other)
            #expect(mary != other)
            #expect(try await signIn(server, Self.mary).text("user_id") == mary)

            let support = try await deployment.apiKey("support")
            let term = try #require(
                Self.mary.addingPercentEncoding(withAllowedCharacters: CharacterSet()))
            let found = try await server.client.call(
                "GET", "/v1/search?q=\(term)", token: support,
                headers: ["Ledger-Reason": "ticket 7"])
            let page = String(decoding: found.body, as: UTF8.self)
            #expect(found.status == 200 && page.contains(mary) && !page.contains(other), "\(page)")

            let path = try deployment.write(
                """
                {"email":"\(Self.jose)","email_verified":true,"hash":"\(Self.md5Crypt)"}
                {"email":"jos\u{200B}e@example.com","email_verified":true,"hash":"\(Self.md5Crypt)"}
                """, to: "passwords.jsonl")
            let imported = try await deployment.tool.run([
                "import", "passwords", path, "--reason", "the move",
            ])
            #expect(imported.output.contains("opened accounts: 1\n"), "\(imported)")
            #expect(imported.output.contains("not imported: 1\n"), "\(imported)")
            #expect(try await signIn(server, Self.jose, "pw").status == 200)
            #expect(try await server.stop() == 0)
            let verified = try await deployment.tool.run(["verify"])
            #expect(verified.status == 0, "\(verified)")
        }
    }

    @Test func `a mail server without SMTPUTF8 gets no such address, and support sees why`()
        async throws
    {
        try await Deployment.with(settings: settings) { deployment in
            try deployment.configure(
                providers: Deployment.addressProviders, members: #""email_local_parts":"any","#)
            let server = try await deployment.serve()
            #expect(try await askForCode(server, Self.jose).status == 200)
            let failed = try await eventually("the message to fail", within: .seconds(60)) {
                let listed = try await deployment.tool.run(["messages", "--state", "failed"])
                return listed.output.hasSuffix("1 message\n") ? listed.output : nil
            }
            #expect(failed.contains("  failed  1 attempt  no_smtputf8"), "\(failed)")
            #expect(!sink.commands.contains { $0.hasPrefix("RCPT") })
            #expect(try await server.stop() == 0)
            #expect(server.log.contains("was refused by email: no_smtputf8"))
            #expect(!server.log.contains("jos\u{E9}") && !failed.contains("jos\u{E9}"))
            let tool = CommandLineTool(
                environment: deployment.tool.environment.merging(settings) { $1 })
            let doctor = try await tool.run(["doctor"])
            let line =
                "warning  mail server: takes no addresses outside ASCII,"
                + " which these tenants take: default"
            #expect(doctor.output.contains(line), "\(doctor.output)")
        }
    }
}
