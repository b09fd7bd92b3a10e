package import HTTPClient
package import Ledger
package import LedgerEngine
internal import LedgerMessages

/// Sends e-mails through a mail server.
package final class SMTPTransport: MessageTransport {
    private let client: MailClient
    private let sender: Mailbox
    private let now: @Sendable () -> Timestamp

    /// Creates a transport; it connects with the first message.
    ///
    /// - Parameters:
    ///   - server: The mail server.
    ///   - sender: The sender of the header and of the envelope.
    ///   - now: The clock for the field `Date`.
    package init(
        _ server: MailServer, from sender: Mailbox, now: @escaping @Sendable () -> Timestamp
    ) {
        client = MailClient(server)
        self.sender = sender
        self.now = now
    }

    /// Sends a message; returns within ``secondsMax``.
    package func send(_ message: RenderedMessage) async -> MessageOutcome {
        let content = MailMessage(
            from: sender, to: message.recipient, subject: message.text.subject ?? "",
            body: message.text.body, id: message.id.description, date: now())
        let envelope = MailEnvelope(
            sender: sender.address, recipient: message.recipient, content: content.bytes)
        switch await client.send(envelope, within: .seconds(Self.secondsMax)) {
        case .accepted(let code): return .accepted(code: code)
        case .refused(let code): return .refused(code: code)
        case .noSMTPUTF8: return .refused(code: nil, .noSMTPUTF8)
        case .failed(.busy, let code): return .deferred(code: code, .busy)
        case .failed(.unauthorized, let code): return .deferred(code: code, .unauthorized)
        // An address that libcurl could not carry never can be sent to.
        case .failed(.transfer(.unacceptableAddress), _): return .refused(code: nil)
        case .failed(.transfer(let fault), let code):
            return .deferred(code: code, MessageFailure(fault))
        }
    }

    /// Ends every attempt under way, and every later one at once.
    package func stop() {
        client.stop()
    }
}

extension MessageFailure {
    init(_ fault: TransferFault) {
        self =
            switch fault {
            case .unacceptableAddress, .tooLarge, .broken: .broken
            case .unreachable: .unreachable
            case .untrusted: .untrusted
            case .timedOut: .timedOut
            case .stopped: .stopped
            }
    }
}
