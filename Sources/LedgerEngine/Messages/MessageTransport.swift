package import Ledger
package import LedgerMessages

/// A message that is ready to be sent.
package struct RenderedMessage: Hashable, Sendable {
    package let id: MessageID
    package let tenant: TenantID
    package let channel: MessageChannel
    package let template: MessageTemplate
    package let language: MessageLanguage
    package let recipient: String
    package let text: MessageText

    /// Combines a message and its text.
    package init(
        id: MessageID, tenant: TenantID, channel: MessageChannel, template: MessageTemplate,
        language: MessageLanguage, recipient: String, text: MessageText
    ) {
        self.id = id
        self.tenant = tenant
        self.channel = channel
        self.template = template
        self.language = language
        self.recipient = recipient
        self.text = text
    }
}

/// The outcome of one attempt.
package enum MessageOutcome: Hashable, Sendable {
    /// The other side has taken the message over.
    case accepted(code: Int?)
    /// It never will.
    case refused(code: Int?, MessageFailure? = nil)
    /// It may at another attempt, not before so many seconds.
    case deferred(code: Int?, MessageFailure, retryAfterSeconds: Int64? = nil)
}

/// Why an attempt had no answer, or none that is final; a closed list, so that none holds an address.
package enum MessageFailure: String, Hashable, Sendable, CaseIterable {
    /// The other side asked to try again later.
    case busy
    /// The name and password, or the token, were refused.
    case unauthorized
    /// The server can't be found or connected to.
    case unreachable
    /// The certificate is not trusted, or the server offers no TLS.
    case untrusted
    case timedOut = "timed_out"
    /// The connection ended early, or the answer is not one of the protocol.
    case broken
    /// The mail server takes no addresses outside ASCII (RFC 6531).
    case noSMTPUTF8 = "no_smtputf8"
    /// This process stopped.
    case stopped
    /// No key of this process decrypts it, or it was changed.
    case unreadable
}

/// Sends messages of one channel.
package protocol MessageTransport: Sendable {
    /// Sends a message; returns within ``secondsMax``.
    func send(_ message: RenderedMessage) async -> MessageOutcome

    /// Ends every attempt under way, and every later one at once.
    func stop()
}

extension MessageTransport {
    /// The longest attempt, in seconds: shorter than a lease.
    package static var secondsMax: Int64 { 30 }
}
