internal import CCurl

/// A mail server that takes messages over, and how to sign in to it.
package struct MailServer: Sendable {
    /// `smtps` or `smtp`.
    let scheme: String
    /// Host and, where it is given, port: an IPv6 address in brackets.
    let authority: String
    let user: String?
    let password: String?
    /// Whether STARTTLS must succeed before anything is sent.
    let requiresStartTLS: Bool
    /// Certificates to trust, as a PEM file; nil for those that the system trusts.
    let trustedFile: String?

    /// Reads `smtps://host:port` or `smtp://host:port`; nil for another URL.
    ///
    /// Over `smtp`, STARTTLS is required unless the host is this machine.
    ///
    /// - Parameters:
    ///   - url: The URL, without user and password.
    ///   - user: The user; nil for no authentication.
    ///   - password: The password.
    ///   - requiresTLS: Whether STARTTLS is required of this machine as well.
    ///   - trustedFile: Certificates to trust, as a PEM file; nil for those that the system trusts.
    package init?(
        _ url: String, user: String? = nil, password: String? = nil, requiresTLS: Bool = false,
        trustedFile: String? = nil
    ) {
        let sections = url.split(separator: "/", omittingEmptySubsequences: false)
        guard sections.count == 3 || (sections.count == 4 && sections[3].isEmpty),
            sections[0] == "smtp:" || sections[0] == "smtps:", sections[1].isEmpty
        else { return nil }
        let authority = sections[2].lowercased()
        guard (1...255).contains(authority.utf8.count),
            authority.utf8.allSatisfy({ Self.isHostByte($0) })
        else { return nil }
        let parts = Self.split(authority)
        guard let parts else { return nil }
        scheme = String(sections[0].dropLast())
        self.authority = authority
        let isLoopback = ["127.0.0.1", "[::1]", "localhost"].contains(parts)
        requiresStartTLS = scheme == "smtp" && (requiresTLS || !isLoopback)
        self.user = user
        self.password = password
        self.trustedFile = trustedFile
    }

    /// Returns the host of `host`, `host:port`, `[address]` or `[address]:port`; nil for another text.
    private static func split(_ authority: String) -> String? {
        var host = authority[...]
        if let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") {
            guard let port = UInt16(authority[authority.index(after: colon)...]), port > 0 else {
                return nil
            }
            host = authority[..<colon]
        }
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        let inner = isBracketed ? host.dropFirst().dropLast() : host
        guard !inner.isEmpty, !inner.contains("["), !inner.contains("]"),
            isBracketed || !inner.contains(":")
        else { return nil }
        return String(host)
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "["),
            UInt8(ascii: "]"):
            true
        default: false
        }
    }
}

/// A message with the addresses of its envelope.
package struct MailEnvelope: Sendable {
    package let sender: String
    package let recipient: String
    /// Header and body (RFC 5322), with CRLF at the end of each line.
    package let content: [UInt8]

    /// Describes a message to one recipient.
    package init(sender: String, recipient: String, content: [UInt8]) {
        self.sender = sender
        self.recipient = recipient
        self.content = content
    }
}

/// The outcome of an attempt to hand a message over.
package enum MailOutcome: Hashable, Sendable {
    /// The server has taken it over.
    case accepted(code: Int)
    /// The server refuses the sender, the recipient or the content for good.
    case refused(code: Int)
    /// The server takes no addresses outside ASCII (RFC 6531), and none was sent to it.
    case noSMTPUTF8
    /// Neither, or unknown.
    case failed(MailFault, code: Int?)
}

/// Why a mail server neither took a message over nor refused it for good.
package enum MailFault: Hashable, Sendable {
    /// The server answered 4xx, or refused the session.
    case busy
    /// The server refused user and password, or requires them.
    case unauthorized
    /// The connection: `.untrusted` also where the server offers no TLS.
    case transfer(TransferFault)
}

/// Hands messages over to a mail server, by libcurl; connections are kept for the next message.
package final class MailClient: Sendable {
    private let server: MailServer
    private let loop = TransferLoop()

    /// Creates a client; its thread starts with the first message.
    package init(_ server: MailServer) {
        self.server = server
    }

    deinit {
        loop.stop()
    }

    /// Hands a message over and waits for the server's answer.
    package func send(_ envelope: MailEnvelope, within limit: Duration) async -> MailOutcome {
        await attempt(envelope, within: limit, false)
    }

    /// Connects, greets the server and signs in as before a message, and sends none.
    ///
    /// - Parameters:
    ///   - limit: The longest time.
    ///   - needsSMTPUTF8: Whether it must take addresses outside ASCII.
    /// - Returns: `accepted` for a server that would take a message now.
    package func reach(
        within limit: Duration, needingSMTPUTF8 needsSMTPUTF8: Bool = false
    ) async -> MailOutcome {
        await attempt(nil, within: limit, needsSMTPUTF8)
    }

    private func attempt(
        _ envelope: MailEnvelope?, within limit: Duration, _ needsSMTPUTF8: Bool
    ) async -> MailOutcome {
        await withCheckedContinuation { continuation in
            loop.begin(
                TransferLoop.Job(
                    start: { [server] () throws(TransferFault) in
                        let transfer = try MailTransfer(
                            envelope, to: server, within: limit, needingSMTPUTF8: needsSMTPUTF8)
                        return TransferLoop.Running(
                            transfer: transfer,
                            end: { continuation.resume(returning: transfer.outcome($0)) })
                    },
                    fail: { continuation.resume(returning: .failed(.transfer($0), code: nil)) }))
        }
    }

    /// Ends every attempt under way, and every later one at once.
    package func stop() {
        loop.stop()
    }
}
