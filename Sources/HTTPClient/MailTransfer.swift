internal import CCurl

/// One message over libcurl's SMTP, or a session without one; owns the handle.
@safe final class MailTransfer: HandleOwner {
    /// How long an unused connection is kept, in seconds.
    private static let idleSeconds = 10
    private static let connectMilliseconds = 10_000
    /// Refusals of the session or its commands and not of a message: RFC 5321 and RFC 4954.
    private static let sessionCodes: Set<Int> = [500, 501, 502, 503, 504, 530, 534, 535, 538]

    let handle: UnsafeMutableRawPointer
    private let content: [UInt8]
    private let hasMessage: Bool
    /// The answers to EHLO until a message begins, while SMTPUTF8 is looked for in the last one.
    private var greetingsLeft = 0
    private var offersSMTPUTF8 = false
    private var lacksSMTPUTF8 = false
    private var recipients: UnsafeMutablePointer<curl_slist>?
    private var sentCount = 0

    /// Creates a transfer that has not begun; without an envelope it ends where a message would begin.
    ///
    /// - Parameters:
    ///   - envelope: The message; nil for a session without one.
    ///   - server: The mail server.
    ///   - limit: The longest time.
    ///   - needsSMTPUTF8: Whether the server must take addresses outside ASCII; a message with one needs that anyway.
    /// - Throws: `.unreachable` when libcurl can't be set up.
    init(
        _ envelope: MailEnvelope?, to server: MailServer, within limit: Duration,
        needingSMTPUTF8 needsSMTPUTF8: Bool = false
    ) throws(TransferFault) {
        guard CurlLibrary.isReady, let made = unsafe curl_easy_init() else { throw .unreachable }
        unsafe handle = made
        content = envelope?.content ?? []
        hasMessage = envelope != nil
        let addresses = [envelope?.sender, envelope?.recipient].compactMap(\.self)
        guard !addresses.contains(where: { $0.utf8.contains { $0 < 0x21 || $0 == 0x7F } }) else {
            throw .unacceptableAddress
        }
        let isASCII = addresses.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } }
        guard restrict(server, to: limit), signIn(server),
            isASCII && !needsSMTPUTF8 || expectSMTPUTF8(of: server),
            envelope.map({ address($0) && upload() }) ?? set(CURLOPT_CONNECT_ONLY, to: 1)
        else { throw .unreachable }
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(recipients)
    }

    /// Returns the outcome of a transfer that ended with this code.
    func outcome(_ result: CURLcode) -> MailOutcome {
        if lacksSMTPUTF8 { return .noSMTPUTF8 }
        let status = unsafe ccurl_status(handle)
        let code = status == 0 ? nil : Int(status)
        switch result {
        case CURLE_OK: return .accepted(code: code ?? 250)
        case CURLE_LOGIN_DENIED: return .failed(.unauthorized, code: code)
        case CURLE_OPERATION_TIMEDOUT: return .failed(.transfer(.timedOut), code: nil)
        case CURLE_USE_SSL_FAILED, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR,
            CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
            return .failed(.transfer(.untrusted), code: nil)
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT:
            return .failed(.transfer(.unreachable), code: nil)
        default: break
        }
        guard let code, code >= 400 else { return .failed(.transfer(.broken), code: nil) }
        if (530...538).contains(code) { return .failed(.unauthorized, code: code) }
        // libcurl says so of MAIL, RCPT and DATA; after the content, the code is about it.
        let isOfMessage =
            hasMessage && (result == CURLE_SEND_ERROR || sentCount == content.count)
        return isOfMessage && code >= 500 && !Self.sessionCodes.contains(code)
            ? .refused(code: code) : .failed(.busy, code: code)
    }

    private func restrict(_ server: MailServer, to limit: Duration) -> Bool {
        // 0 would mean no limit.
        set(CURLOPT_TIMEOUT_MS, to: max(1, Int(limit / .milliseconds(1))))
            && set(CURLOPT_CONNECTTIMEOUT_MS, to: Self.connectMilliseconds)
            && set(CURLOPT_NOSIGNAL, to: 1)
            && set(CURLOPT_QUICK_EXIT, to: 1)
            && set(CURLOPT_PROTOCOLS_STR, to: server.scheme)
            && set(CURLOPT_URL, to: "\(server.scheme)://\(server.authority)")
            && set(CURLOPT_PROXY, to: "")
            && set(CURLOPT_MAXAGE_CONN, to: Self.idleSeconds)
            && set(CURLOPT_SSL_VERIFYPEER, to: 1)
            && set(CURLOPT_SSL_VERIFYHOST, to: 2)
            && set(CURLOPT_SSLVERSION, to: Int(CURL_SSLVERSION_TLSv1_2))
            && set(
                CURLOPT_USE_SSL,
                to: Int((server.requiresStartTLS ? CURLUSESSL_ALL : CURLUSESSL_NONE).rawValue))
            && server.trustedFile.map { set(CURLOPT_CAINFO, to: $0) } ?? true
    }

    private func signIn(_ server: MailServer) -> Bool {
        guard let user = server.user else { return true }
        return set(CURLOPT_USERNAME, to: user) && set(CURLOPT_PASSWORD, to: server.password ?? "")
    }

    /// Sets the addresses of the envelope.
    private func address(_ envelope: MailEnvelope) -> Bool {
        unsafe recipients = unsafe curl_slist_append(nil, "<\(envelope.recipient)>")
        return unsafe recipients != nil && ccurl_set_recipients(handle, recipients) == CURLE_OK
            && set(CURLOPT_MAIL_FROM, to: "<\(envelope.sender)>")
    }

    /// Ends the session before any address if the server does not offer SMTPUTF8: libcurl would send addresses outside
    /// ASCII without it, which RFC 6531 forbids.
    ///
    /// A kept connection has no EHLO any more, so a new one is made.
    private func expectSMTPUTF8(of server: MailServer) -> Bool {
        greetingsLeft = server.requiresStartTLS ? 2 : 1
        return unsafe set(CURLOPT_FRESH_CONNECT, to: 1)
            && ccurl_set_listener(
                handle,
                { bytes, size, count, context in
                    guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
                    let transfer = unsafe Unmanaged<MailTransfer>.fromOpaque(context)
                        .takeUnretainedValue()
                    let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
                    let text = unsafe String(decoding: line, as: UTF8.self)
                    return transfer.mayGoOn(after: text) ? size * count : 0
                }, Unmanaged.passUnretained(self).toOpaque()) == CURLE_OK
    }

    /// Reads a line of the server's answers.
    private func mayGoOn(after line: String) -> Bool {
        guard greetingsLeft > 0, line.hasPrefix("250") else { return true }
        // libcurl knows the name in upper case only.
        let words = line.dropFirst(4).split(whereSeparator: \.isWhitespace)
        if words.first == "SMTPUTF8" { offersSMTPUTF8 = true }
        guard line.dropFirst(3).first != "-" else { return true }
        greetingsLeft -= 1
        guard greetingsLeft == 0 else {
            // Extensions offered before STARTTLS are not trusted.
            offersSMTPUTF8 = false
            return true
        }
        lacksSMTPUTF8 = !offersSMTPUTF8
        return offersSMTPUTF8
    }

    /// Registers the source of the content: libcurl calls it only while the transfer is under way.
    private func upload() -> Bool {
        unsafe ccurl_set_upload(
            handle,
            { target, size, count, context in
                guard let target = unsafe target, let context = unsafe context else { return 0 }
                let transfer = unsafe Unmanaged<MailTransfer>.fromOpaque(context)
                    .takeUnretainedValue()
                return unsafe transfer.read(
                    into: UnsafeMutableRawBufferPointer(start: target, count: size * count))
            }, Unmanaged.passUnretained(self).toOpaque()) == CURLE_OK
    }

    /// Copies the next bytes and returns their number; 0 at the end.
    private func read(into target: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(target.count, content.count - sentCount)
        unsafe target.copyBytes(from: content[sentCount..<sentCount + count])
        sentCount += count
        return count
    }

    private func set(_ option: CURLoption, to number: Int) -> Bool {
        unsafe ccurl_set_number(handle, option, number) == CURLE_OK
    }

    private func set(_ option: CURLoption, to text: String) -> Bool {
        unsafe ccurl_set_text(handle, option, text) == CURLE_OK
    }
}
