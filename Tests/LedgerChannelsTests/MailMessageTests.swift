import Encodings
import Foundation
import Ledger
import Testing

@testable import LedgerChannels

/// The bytes of e-mails.
@Suite struct MailMessageTests {
    private func message(
        from: String = "Example <noreply@example.com>", to: String = "ada@example.org",
        subject: String = "Your code", body: String = "Hello\n"
    ) throws -> String {
        let mailbox = try #require(Mailbox(from))
        let message = MailMessage(
            from: mailbox, to: to, subject: subject, body: body, id: "an-id",
            date: Timestamp(seconds: 1_795_635_164))
        return String(decoding: message.bytes, as: UTF8.self)
    }

    @Test func `a message has the fields of RFC 5322 and says that a program sent it`() throws {
        #expect(
            try message() == """
                Date: Wed, 25 Nov 2026 19:32:44 +0000\r
                From: "Example" <noreply@example.com>\r
                To: ada@example.org\r
                Message-ID: <an-id@example.com>\r
                Subject: Your code\r
                MIME-Version: 1.0\r
                Content-Type: text/plain; charset=utf-8\r
                Content-Transfer-Encoding: quoted-printable\r
                Auto-Submitted: auto-generated\r
                \r
                Hello\r

                """)
    }

    @Test func `other characters are encoded in words and quoted lines`() throws {
        let subject = "Bücherladen: " + String(repeating: "Bestätigung ", count: 8)
        let text = try message(
            from: "Bücher <noreply@example.com>", subject: subject,
            body: "Grüße = \n" + String(repeating: "ä", count: 40) + "\n.\n")
        let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
        #expect(text.utf8.allSatisfy { $0 < 0x7F })
        #expect(lines.allSatisfy { $0.utf8.count <= 78 }, "\(lines)")
        #expect(text.contains("From: =?utf-8?B?QsO8Y2hlcg==?= <noreply@example.com>\r\n"))
        #expect(text.contains("\r\n\r\nGr=C3=BC=C3=9Fe =3D=20\r\n"))
        let start = try #require(lines.firstIndex { $0.hasPrefix("Subject: ") })
        let words = lines[start...].prefix { $0.hasPrefix("Subject: ") || $0.hasPrefix(" ") }
        let decoded = words.map { line in
            let word = line.split(separator: "?")[3]
            return String(decoding: Base64.decode(word) ?? [], as: UTF8.self)
        }
        #expect(words.count > 1 && decoded.joined() == subject)
    }

    @Test func `no value begins a field of its own`() throws {
        for evil in [
            "x\r\nBcc: eve@example.org", "x\nBcc: eve@example.org", "x\rBcc: e", "x\u{85}y",
        ] {
            let text = try message(to: evil, subject: evil)
            let header = text.components(separatedBy: "\r\n\r\n")[0]
            #expect(header.components(separatedBy: "\r\n").count == 9)
            #expect(!header.contains("\nBcc") && !header.contains("\rBcc"))
        }
        #expect(Mailbox("Evil\r\nBcc: eve@example.org <a@example.com>") == nil)
    }

    @Test(arguments: [
        "", "noreply", "a@b@c", "<a@b.c>", "A <a@b.c", "A a@b.c>", "A <a b@c.d>", "A <a@b,c>",
        "\"A\" <a@b.c>", "A <ä@b.c>", String(repeating: "A", count: 65) + " <a@b.c>",
    ])
    func `a sender is an address, with or without a name`(text: String) {
        #expect(Mailbox(text) == nil)
    }
}
