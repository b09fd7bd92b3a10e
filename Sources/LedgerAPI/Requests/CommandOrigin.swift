internal import HTTP
internal import Ledger

extension Command.Origin {
    /// The maximum length of a stored `User-Agent`, in bytes; the rest is cut off.
    private static let userAgentBytesMax = 256

    /// Describes where a request came from, behind trusted proxies.
    init(
        _ request: HTTPRequest, name: RequestName, trace: TraceContext?,
        trusting proxies: TrustedProxies
    ) {
        let client = proxies.clientAddress(
            peer: request.peerAddress, forwardedFor: request.headers.all("X-Forwarded-For"))
        self.init(
            request: name.id, clientIP: client.isEmpty ? nil : client,
            userAgent: request.headers["User-Agent"].flatMap(Self.trimmed), trace: trace)
    }

    /// Removes control characters and cuts between characters; nil when nothing is left.
    private static func trimmed(_ text: String) -> String? {
        let isPlain = text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        if isPlain, (1...userAgentBytesMax).contains(text.utf8.count) { return text }
        var kept = ""
        var byteCount = 0
        for scalar in text.unicodeScalars where scalar.properties.generalCategory != .control {
            byteCount += scalar.utf8.count
            guard byteCount <= userAgentBytesMax else { break }
            kept.unicodeScalars.append(scalar)
        }
        return kept.isEmpty ? nil : kept
    }
}
