import Addresses

/// Addresses of people: a canonical form is its own canonical form.
enum AddressTargets {
    static let all = [emailAddress, phoneNumber]

    private static let emailAddress = FuzzTarget(
        "email-address",
        corpus: [
            "alice@example.com", "A.Lice+news@Sub.Example.co.uk.", "m\u{FC}ller@m\u{FC}nchen.de",
            "a@xn--mnchen-3ya.de", "\u{65E5}\u{672C}@\u{65E5}\u{672C}\u{8A9E}\u{3002}jp",
            "\u{438}\u{43C}\u{44F}@\u{43F}\u{440}\u{438}\u{43C}\u{435}\u{440}.\u{440}\u{444}",
        ],
        words: [
            "@", ".", "..", "-", "--", "xn--", "\u{3002}", "\u{FF20}", "\u{FF0E}", "\u{AD}",
            "\u{301}",
            "\u{DF}", "\u{130}", "\u{212A}", "\u{200D}", "\u{202E}", "\u{2100}", "\"", "(", "[",
            "<", ",", ";",
            "\r\n", "\u{0}", "127.0.0.1", "_", "\u{1F600}",
        ]
    ) { input in
        let text = String(decoding: input, as: UTF8.self)
        var isAccepted = false
        for script in LocalPartScript.allCases {
            guard let address = try? EmailAddress(text, localPart: script) else { continue }
            isAccepted = true
            let canonical = address.text
            try require(
                try EmailAddress(canonical, localPart: script) == address,
                "the canonical form has another canonical form")
            try require(
                canonical.utf8.count <= EmailAddress.bytesMax
                    && address.localPart.utf8.count <= 64 && address.domain.utf8.count <= 253,
                "the canonical form is too long")
            try require(
                address.domain.wholeMatch(of: /([a-z0-9]([a-z0-9\-]*[a-z0-9])?\.)+[a-z][a-z0-9\-]*/)
                    != nil, "the domain is not of A-labels")
            try require(
                !canonical.unicodeScalars.contains {
                    $0.properties.isWhitespace || $0.value < 0x20
                },
                "the canonical form has white space or controls")
            if text.utf8.allSatisfy({ $0 < 0x80 }) {
                let folded = text.lowercased()
                try require(
                    canonical == folded || canonical + "." == folded,
                    "ASCII has changed in more than its case")
            }
        }
        return isAccepted
    }

    /// Lines: the number, and the default region if there is one.
    private static let phoneNumber = FuzzTarget(
        "phone-number",
        corpus: [
            "+4915123456789", "+49 (0)151/234567-89", "0151 23456789\nDE", "+1 (201) 555-0123",
            "011 49 151 23456789\nUS", "+390669821234", "+80012345678", "+52 1 55 1234 5678",
        ],
        words: [
            "+", "++", "00", "(0)", " ", "/", "-", ".", ";ext=", "x", "tel:", "\n", "\nUS", "\nZZ",
            "\u{FF0B}",
            "\u{661}", "\u{A0}", "999", "\u{0}", "*", "#",
        ]
    ) { input in
        let lines = String(decoding: input, as: UTF8.self)
            .split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            .map(String.init)
        let typed = lines.first ?? ""
        let region = lines.dropFirst().first
        guard let number = try? PhoneNumber(typed, defaultRegion: region) else { return false }
        try require(
            number.text.wholeMatch(of: /\+[1-9][0-9]{1,14}/) != nil, "the form is not of E.164")
        try require(
            number.region.wholeMatch(of: /[A-Z]{2}|001/) != nil, "the region is not of ISO 3166")
        try require(
            try PhoneNumber(number.text) == number, "the canonical form has another canonical form")
        let bare = typed.filter { $0.isNumber || $0 == "+" }
        try require(
            try PhoneNumber(bare, defaultRegion: region) == number,
            "separators change the number")
        return true
    }
}
