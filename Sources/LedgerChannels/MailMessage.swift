internal import Encodings
internal import Ledger

/// An e-mail in plain text, as it is sent (RFC 5322 and RFC 2045).
struct MailMessage {
    /// The longest line of quoted-printable (RFC 2045, section 6.7).
    private static let lineMax = 76

    let from: Mailbox
    let to: String
    let subject: String
    /// Lines separated by `\n`.
    let body: String
    /// The left part of the Message-ID: the same at each attempt, so that a repetition can be recognised.
    let id: String
    let date: Timestamp

    /// Header and body with CRLF at the end of each line.
    var bytes: [UInt8] {
        let domain = from.address.split(separator: "@").last ?? "localhost"
        let header = [
            "Date: \(Self.date(date))", "From: \(from.field)", "To: \(Self.unbroken(to))",
            "Message-ID: <\(Self.unbroken(id))@\(domain)>", "Subject: \(Self.words(subject))",
            "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8",
            "Content-Transfer-Encoding: quoted-printable", "Auto-Submitted: auto-generated", "", "",
        ]
        return Array(header.joined(separator: "\r\n").utf8) + Self.quotedPrintable(body)
    }

    /// Returns a text without control characters: nothing in a value may begin another line.
    private static func unbroken(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.filter { $0.properties.generalCategory != .control }))
    }

    /// Encodes a text for a header as words of base64 (RFC 2047), one a line; a short one in ASCII stays.
    static func words(_ text: String) -> String {
        let text = unbroken(text)
        let isPlain =
            text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
            && !text.contains("=?") && text.utf8.count <= 60
        if isPlain { return text }
        var (words, word): ([String], String) = ([], "")
        for scalar in text.unicodeScalars {
            // A line has at most 76 characters: 12 are the frame, 9 the name of the field, 52 are 39 bytes.
            if word.utf8.count + String(scalar).utf8.count > 39 {
                words.append(word)
                word = ""
            }
            word.unicodeScalars.append(scalar)
        }
        words.append(word)
        return words.map { "=?utf-8?B?\(Base64.encode(Array($0.utf8)))?=" }
            .joined(separator: "\r\n ")
    }

    /// Encodes a text as quoted-printable with CRLF between its lines.
    static func quotedPrintable(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            var length = 0
            let content = Array(line.utf8)
            for (index, byte) in content.enumerated() {
                let isLast = index == content.count - 1
                let isPlain =
                    (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "=")
                    || (byte == 0x20 && !isLast)
                let piece =
                    isPlain ? [byte] : Array("=\(Hex.encode([byte]).uppercased())".utf8)
                // One place is for the sign that the line continues.
                if length + piece.count > lineMax - (isLast ? 0 : 1) {
                    bytes += Array("=\r\n".utf8)
                    length = 0
                }
                bytes += piece
                length += piece.count
            }
            bytes += Array("\r\n".utf8)
        }
        // The text ends with a line break already.
        if text.hasSuffix("\n") { bytes.removeLast(2) }
        return bytes
    }

    /// Returns a date as in `Wed, 25 Nov 2026 19:32:44 +0000`.
    static func date(_ time: Timestamp) -> String {
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        let text = time.description
        let day = Int(time.seconds / 86_400 % 7)
        let month = Int(text.dropFirst(5).prefix(2)) ?? 1
        return "\(days[day]), \(text.dropFirst(8).prefix(2)) \(months[month - 1])"
            + " \(text.prefix(4)) \(text.dropFirst(11).prefix(8)) +0000"
    }
}

/// The configured sender of e-mails: an address, or a name with an address in angle brackets.
package struct Mailbox: Hashable, Sendable {
    private static let nameBytesMax = 64

    /// The address, which is also that of the envelope.
    package let address: String
    /// The name; nil without one.
    package let name: String?

    /// Reads `noreply@example.com` or `Example <noreply@example.com>`; nil for anything else.
    package init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        var (name, address) = (String?.none, text)
        if text.hasSuffix(">"), let open = text.lastIndex(of: "<") {
            address = String(text[text.index(after: open)...].dropLast())
            var label = text[..<open]
            while label.last == " " { label.removeLast() }
            while label.first == " " { label.removeFirst() }
            guard !label.isEmpty, label.utf8.count <= Self.nameBytesMax,
                !label.contains("\""), !label.contains("\\")
            else { return nil }
            name = String(label)
        }
        let parts = address.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts.contains(""), address.utf8.count <= 254,
            address.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            !address.contains(where: { "<>()[],;:\\\"".contains($0) })
        else { return nil }
        (self.name, self.address) = (name, address)
    }

    /// The value of the field `From`.
    var field: String {
        guard let name else { return address }
        let isPlain = name.utf8.allSatisfy { (0x20...0x7E).contains($0) } && !name.contains("=?")
        return (isPlain ? "\"\(name)\"" : MailMessage.words(name)) + " <\(address)>"
    }
}
