internal import CIDN2

/// Domains of e-mail addresses in the form that UTS 46 compares: A-labels in lower case.
enum DomainName {
    private static let bytesMax = 253
    private static let labelBytesMax = 63
    private static let dot = UInt8(ascii: ".")
    private static let hyphen = UInt8(ascii: "-")

    /// Returns the canonical form of a domain.
    ///
    /// A dot at the end is dropped: it names the same domain.
    static func canonical(_ typed: Substring) throws(EmailAddressFault) -> String {
        guard typed.utf8.first != UInt8(ascii: "[") else { throw .domainIsIPAddress }
        // libidn2 drops controls without an error, and with STD3 rules every ASCII character that is
        // invalid in a domain, which would make `a_b.example` equal to `ab.example`.
        guard typed.utf8.allSatisfy({ $0 >= 0x80 || isAllowed($0) }) else {
            throw .domainCharacter
        }
        let form = try isPlain(typed) ? typed.lowercased() : mapped(String(typed))
        var name = Array(form.utf8)
        if name.last == dot { name.removeLast() }
        // Other characters may be mapped to ASCII ones, such as U+2100 to `a/c`.
        guard name.allSatisfy(isAllowed) else { throw .domainCharacter }
        guard name.count <= bytesMax else { throw .domainTooLong }
        let labels = name.split(separator: dot, omittingEmptySubsequences: false)
        for label in labels {
            guard (1...labelBytesMax).contains(label.count), label.first != hyphen,
                label.last != hyphen
            else { throw .domainLabel }
        }
        // No top-level domain begins with a digit; the last part of an IP address does.
        guard let first = labels.last?.first, ASCIIClasses.isLetter(first) else {
            throw .domainIsIPAddress
        }
        guard labels.count > 1 else { throw .domainWithoutDot }
        return String(decoding: name, as: UTF8.self)
    }

    /// Whether UTS 46 maps a domain to lower case alone: letters and digits with single hyphens and dots between them.
    ///
    /// Most domains are, and libidn2 takes 2 to 7 us for each.
    private static func isPlain(_ typed: Substring) -> Bool {
        guard typed.utf8.count <= labelBytesMax else { return false }
        var isAfterCharacter = false
        for byte in typed.utf8 {
            let isCharacter = ASCIIClasses.isLetterOrDigit(byte)
            guard isCharacter || isAfterCharacter && (byte == hyphen || byte == dot) else {
                return false
            }
            isAfterCharacter = isCharacter
        }
        return isAfterCharacter
    }

    /// Maps a domain by UTS 46 (non-transitional), and checks the A-labels in it.
    private static func mapped(_ typed: String) throws(EmailAddressFault) -> String {
        var mapped: UnsafeMutablePointer<UInt8>?
        let flags = Int32(IDN2_NFC_INPUT.rawValue | IDN2_NONTRANSITIONAL.rawValue)
        let code = unsafe idn2_lookup_u8(typed, &mapped, flags)
        defer { unsafe idn2_free(mapped) }
        guard code == IDN2_OK.rawValue, let mapped = unsafe mapped else { throw fault(code) }
        return unsafe String(cString: mapped)
    }

    private static func fault(_ code: Int32) -> EmailAddressFault {
        precondition(code != IDN2_MALLOC.rawValue, "libidn2 has no memory")
        switch code {
        case IDN2_TOO_BIG_DOMAIN.rawValue: return .domainTooLong
        case IDN2_TOO_BIG_LABEL.rawValue, IDN2_PUNYCODE_BIG_OUTPUT.rawValue,
            IDN2_2HYPHEN.rawValue, IDN2_HYPHEN_STARTEND.rawValue:
            return .domainLabel
        default: return .domainCharacter
        }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        ASCIIClasses.isLetterOrDigit(byte) || byte == hyphen || byte == dot
    }
}
