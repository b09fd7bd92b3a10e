import Cryptography
import Encodings
import Foundation
import HTTP
import Ledger
import LedgerAPI

/// Parsers of single fields, each compared with a second parser.
enum TextTargets {
    static let all = [base64URL, hex, values, mediaType, forwardedFor, settings]

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Decodes bit by bit, as RFC 4648 describes it; only zero bits, fewer than six, may remain.
    private static func naiveBase64URL(_ text: [UInt8]) -> [UInt8]? {
        var bits: [UInt8] = []
        for character in text {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            for shift in [5, 4, 3, 2, 1, 0] { bits.append(UInt8(value >> shift & 1)) }
        }
        let whole = bits.count / 8 * 8
        guard bits.count - whole < 6, !bits[whole...].contains(1) else { return nil }
        return stride(from: 0, to: whole, by: 8).map { start in
            bits[start..<(start + 8)].reduce(0) { $0 << 1 | $1 }
        }
    }

    static let base64URL = FuzzTarget(
        "base64url", corpus: ["", "AA", "_-8", "AAECAwQFBgc", "eyJhbGciOiJSUzI1NiJ9"]
    ) { input in
        let text = String(decoding: input, as: UTF8.self)
        let expected = naiveBase64URL(Array(text.utf8))
        let decoded = Base64URL.decode(text)
        try require(decoded == expected, "the bytes differ from those of RFC 4648")
        let digest = Digest(base64URL: text)
        try require(
            digest?.bytes == (expected?.count == Digest.byteCount ? expected : nil),
            "the model decodes a digest differently")
        if let decoded {
            try require(
                Base64URL.encode(decoded) == text, "the decoded bytes encode to another text")
        }
        return decoded != nil
    }

    static let hex = FuzzTarget("hex", corpus: ["", "00ff", "DEADbeef"]) { input in
        let text = String(decoding: input, as: UTF8.self)
        let bytes = Hex.decode(text)
        if let bytes {
            try require(
                Hex.encode(bytes).utf8.elementsEqual(text.utf8.map { $0 | ($0 < 0x40 ? 0 : 0x20) }),
                "the decoded bytes encode to another text")
        }
        return bytes != nil
    }

    static let values = FuzzTarget(
        "values",
        corpus: [
            "0190a1b2-c3d4-7000-8000-000000000001", "2026-11-20T23:17:50.859712Z",
            "2024-02-29T00:00:00.000000Z", "default", "google", "a_tenant-1",
            "9999-12-31T23:59:59.999999Z", "1041", "2026-11-21T09:30:00.25+01:00",
            "41-1041",
        ],
        words: [
            "+", ":", ".", "-00:00", "9223372036854775807", "-", "Z", "T", "9999", "0000", "31",
            "K", "ſ",
        ]
    ) { input in
        let text = String(decoding: input, as: UTF8.self)
        var isAccepted = false
        func check(_ back: String?, _ kind: String) throws {
            guard let back else { return }
            isAccepted = true
            try require(back.utf8.elementsEqual(text.utf8), "\(kind) is written differently")
        }
        try check(AccountID(canonical: text)?.description, "an identifier")
        try check(Timestamp(text)?.description, "a time")
        try check(LogPosition(digits: text)?.description, "a position")
        try check(TimelineCursor(text)?.description, "a cursor")
        if let time = Timestamp(text) {
            try require(Timestamp(rfc3339: text) == time, "a time in RFC 3339 form differs")
        }
        isAccepted = Moment(text) != nil || isAccepted
        try check(TenantID(text)?.description, "a tenant")
        try check(ProviderName(text)?.description, "a provider")
        let shape = /[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}/
        let isIdentifier = text.utf8.count == 36 && text.wholeMatch(of: shape) != nil
        try require(
            AccountID(text)?.description == (isIdentifier ? text.lowercased() : nil),
            "an identifier is wrongly accepted, refused or changed")
        return isAccepted
    }

    static let mediaType = FuzzTarget(
        "media-type",
        corpus: ["application/json", "Application/JSON; charset=utf-8", " text/html\t;q=1", "*/*"],
        words: ["application", "json", "/", ";", "+json", " ", "\t", "ſon", "K"]
    ) { input in
        let text = String(decoding: input, as: UTF8.self)
        guard let type = MediaType(text) else { return false }
        let essence = text.split(separator: ";", omittingEmptySubsequences: false).first ?? ""
        let trimmed = essence.trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
        try require(
            trimmed.utf8.elementsEqual("\(type.type)/\(type.subtype)".utf8)
                == (trimmed == trimmed.lowercased()),
            "the type differs from the text before the semicolon")
        try require(
            type.isJSON == (trimmed.lowercased() == "application/json"),
            "the type is wrongly JSON or not")
        return true
    }

    /// Lines: the trusted proxies, the peer, then values of `X-Forwarded-For`.
    static let forwardedFor = FuzzTarget(
        "forwarded-for",
        corpus: [
            "10.0.0.0/8,127.0.0.1\n127.0.0.1\n203.0.113.7, 10.1.2.3",
            "::1,2001:db8::/32\n::1\n[2001:db8::7]:443, 2001:db8::8\n198.51.100.1:80, ::ffff:10.0.0.1",
            "0.0.0.0/0,::/0\n192.0.2.1\nunknown, 203.0.113.9,1.1.1.1", "\n192.0.2.1\n9.9.9.9",
            "\n19::ffff:2.0.2.1\n9.9.9.9",
        ],
        words: [
            ",", "\n", ":", "::", "::ffff:", "/0", "/32", "/128", "[", "]", "%lo", "0x7f.1",
            "1.2.3",
        ]
    ) { input in
        let lines = String(decoding: input, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.count > 1, let proxies = TrustedProxies(lines[0]) else { return false }
        let fields = Array(lines.dropFirst(2))
        guard let peer = IPAddress(lines[1])?.text else {
            let client = proxies.clientAddress(peer: lines[1], forwardedFor: fields)
            try require(client == lines[1], "a peer that is not an address changed")
            return true
        }
        // In canonical form, as requests have it.
        let client = proxies.clientAddress(peer: peer, forwardedFor: fields)
        try require(
            IPAddress(client)?.text == client, "the client is not an address in canonical form")
        let untrusted = TrustedProxies("")?.clientAddress(peer: peer, forwardedFor: fields)
        try require(untrusted == peer, "an untrusted proxy's field was used")
        let direct = proxies.clientAddress(peer: peer, forwardedFor: [])
        try require(direct == peer, "the peer changed without a field")
        // A client can write a field in front of the others; that never hides a later hop.
        let bound = proxies.clientAddress(peer: peer, forwardedFor: ["nonsense"] + fields)
        let hops = fields.joined(separator: ",").split(separator: ",").count
        try require(
            bound == client || hops >= 32, "a field in front of the others hides a later hop")
        return true
    }

    static let settings = FuzzTarget(
        "settings",
        corpus: [
            "127.0.0.1:8080", "[::1]:0", "localhost:9090", "https://app.example, http://[::1]:3000",
            "https://a.example:8443 https://b.example", "10.0.0.0/8, ::1",
        ], words: [":", "[", "]", "65536", "0", "https://", "*", ".", ",", "::ffff:1.2.3.4"]
    ) { input in
        let text = String(decoding: input, as: UTF8.self)
        var isAccepted = AllowedOrigins(text) != nil || TrustedProxies(text) != nil
        if let address = ListenAddress(text) {
            isAccepted = true
            let host = address.host.contains(":") ? "[\(address.host)]" : address.host
            try require(
                ListenAddress("\(host):\(address.port)") == address,
                "an address changes when it is written back")
        }
        return isAccepted
    }
}
