import ChildProcesses
import Foundation
import HTTPClient
import Ledger
import LedgerEngine
import LedgerMessages
import Testing

@testable import LedgerChannels

/// E-mails over TLS, to a server whose certificate is trusted or not.
@Suite(.timeLimit(.minutes(3))) struct TLSMailTests {
    /// A mail server with TLS, and a certificate for `localhost` that it signed itself.
    private final class Sink {
        let certificate: String
        let port: String
        private let directory: URL
        private let process: ChildProcess
        private let output = Pipe()

        init(_ mode: String) throws {
            directory = FileManager.default.temporaryDirectory
                .appending(path: "tls-mail-\(UUID().uuidString)")
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true)
            let path = directory.path(percentEncoded: false)
            let making = try ChildProcess(
                executable: "/usr/bin/openssl",
                arguments: [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-nodes", "-keyout", "key.pem", "-out", "certificate.pem", "-days", "1",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                ], environment: ProcessInfo.processInfo.environment, directory: path,
                output: .null, errors: .null)
            _ = making.waitUntilExit()
            certificate = path + "/certificate.pem"
            let script = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "Verifiers/tls_mail_sink.py")
            process = try ChildProcess(
                executable: "/usr/bin/python3",
                arguments: [
                    script.path(percentEncoded: false), mode, certificate, path + "/key.pem",
                ], environment: ProcessInfo.processInfo.environment, directory: path,
                output: .file(output.fileHandleForWriting.fileDescriptor), errors: .null)
            try output.fileHandleForWriting.close()
            port = Self.line(of: output.fileHandleForReading)
        }

        deinit {
            process.send(SIGKILL)
            _ = process.waitUntilExit()
            try? FileManager.default.removeItem(at: directory)
        }

        /// The next message, as a line of JSON.
        var mail: String { Self.line(of: output.fileHandleForReading) }

        private static func line(of handle: FileHandle) -> String {
            var bytes = Data()
            while let byte = try? handle.read(upToCount: 1), byte.count == 1, byte != Data([10]) {
                bytes += byte
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    private func outcome(
        _ sink: Sink, _ scheme: String, trusts: Bool, to recipient: String = "ada@example.org"
    ) async throws -> MessageOutcome {
        let server = try #require(
            MailServer(
                "\(scheme)://localhost:\(sink.port)", user: "ledger", password: "secret",
                requiresTLS: true, trustedFile: trusts ? sink.certificate : nil))
        let mailbox = try #require(Mailbox("noreply@example.com"))
        let transport = SMTPTransport(server, from: mailbox, now: { Timestamp(seconds: 0) })
        return await transport.send(
            RenderedMessage(
                id: MessageID(bits: 1), tenant: .default, channel: .email,
                template: .signInCode, language: .english, recipient: recipient,
                text: MessageText(subject: "Your code", body: "Hello\n")))
    }

    @Test(arguments: [("starttls", "smtp"), ("smtps", "smtps")])
    func `a message goes over TLS to a trusted server only`(
        mode: String, scheme: String
    ) async throws {
        let sink = try Sink(mode)
        #expect(try await outcome(sink, scheme, trusts: false) == .deferred(code: nil, .untrusted))
        #expect(try await outcome(sink, scheme, trusts: true) == .accepted(code: 250))
        let mail = sink.mail
        #expect(mail.hasPrefix(#"{"secure": true"#) && mail.contains("Hello"))
    }

    @Test(arguments: [
        ("starttls", "smtp", MessageOutcome.accepted(code: 250)),
        ("smtps", "smtps", .accepted(code: 250)),
        ("early", "smtp", .refused(code: nil, .noSMTPUTF8)),
    ])
    func `an offer of SMTPUTF8 counts where it is made over TLS`(
        mode: String, scheme: String, expected: MessageOutcome
    ) async throws {
        let sink = try Sink(mode)
        let address = "\u{43C}\u{430}\u{440}\u{438}\u{44F}@example.org"
        #expect(try await outcome(sink, scheme, trusts: true, to: address) == expected)
        #expect(try await outcome(sink, scheme, trusts: true) == .accepted(code: 250))
    }
}
