internal import HTTP

/// The web pages that may call the service from a browser (the CORS protocol of the Fetch
/// standard).
///
/// An origin is allowed by name; there is no `*` and there are no credentials, because tokens
/// travel in the `Authorization` field and not in cookies.
package struct AllowedOrigins: Sendable {
    /// The most origins that may be listed.
    package static let countMax = 100
    private static let requestHeaders =
        "Authorization, Content-Type, Idempotency-Key, X-Request-Id"
    private static let exposedHeaders = "X-Request-Id, Retry-After"
    private static let maxAgeSeconds = 600

    private let origins: Set<String>

    /// Reads origins separated by commas or spaces, such as `https://app.example,
    /// http://localhost:3000`.
    ///
    /// Nil when one is not `http` or `https` with a host and nothing after its port, so also for
    /// `*`. An empty list allows nobody.
    package init?(_ list: String) {
        let texts = list.split { $0 == "," || $0 == " " }.map(String.init)
        guard texts.count <= Self.countMax, texts.allSatisfy(Self.isOrigin) else { return nil }
        origins = Set(texts)
    }

    /// Adds what lets a page read the answer.
    func expose(_ response: inout HTTPResponse, to request: HTTPRequest) {
        guard !origins.isEmpty else { return }
        response.headers.append(("Vary", "Origin"))
        guard let origin = allowedOrigin(of: request) else { return }
        response.headers.append(("Access-Control-Allow-Origin", origin))
        response.headers.append(("Access-Control-Expose-Headers", Self.exposedHeaders))
    }

    /// Adds what lets a page send the request that it asks about.
    func permit(_ methods: [String], in response: inout HTTPResponse, to request: HTTPRequest) {
        guard allowedOrigin(of: request) != nil,
            request.headers["Access-Control-Request-Method"] != nil
        else { return }
        response.headers += [
            ("Access-Control-Allow-Methods", methods.joined(separator: ", ")),
            ("Access-Control-Allow-Headers", Self.requestHeaders),
            ("Access-Control-Max-Age", String(Self.maxAgeSeconds)),
        ]
    }

    private func allowedOrigin(of request: HTTPRequest) -> String? {
        let values = request.headers.values("Origin")
        guard values.count == 1, origins.contains(values[0]) else { return nil }
        return values[0]
    }

    /// What a browser sends is lower-case and has no path, so anything else would never match.
    private static func isOrigin(_ text: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: text.hasPrefix) else {
            return false
        }
        let authority = text.dropFirst(scheme.count)
        return !authority.isEmpty
            && authority.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"),
                    UInt8(ascii: "["), UInt8(ascii: "]"):
                    true
                default: false
                }
            }
    }
}
