internal import HTTP

/// The web pages that may call the service from a browser (the CORS protocol of the Fetch
/// standard).
///
/// An origin is allowed by name; there is no `*` and there are no credentials, because tokens
/// travel in the `Authorization` field and not in cookies.
package struct AllowedOrigins: Sendable {
    /// The maximum number of origins.
    package static let countMax = 100
    private static let maxAgeSeconds = 600

    private let origins: Set<String>

    /// Reads origins separated by commas or spaces, such as `https://app.example,
    /// http://localhost:3000`.
    ///
    /// Nil when an entry is not an origin that a browser could send, which includes `*`. An empty
    /// list allows no origin.
    package init?(_ list: String) {
        let texts = list.split { $0 == "," || $0 == " " }.map(String.init)
        guard texts.count <= Self.countMax, texts.allSatisfy(WebOrigin.isOne) else { return nil }
        origins = Set(texts)
    }

    /// Adds the header fields that let a page read the response, with these fields of it.
    func expose(_ fields: String, of response: inout HTTPResponse, to headers: HTTPHeaders) {
        guard !origins.isEmpty else { return }
        response.headers.append(("Vary", "Origin"))
        guard let origin = allowedOrigin(of: headers) else { return }
        response.headers.append(("Access-Control-Allow-Origin", origin))
        response.headers.append(("Access-Control-Expose-Headers", fields))
    }

    /// Adds the header fields that answer a page's preflight request: the methods and the header
    /// fields that it may send.
    func permit(
        _ methods: [String], _ fields: String, in response: inout HTTPResponse,
        to headers: HTTPHeaders
    ) {
        guard allowedOrigin(of: headers) != nil,
            headers["Access-Control-Request-Method"] != nil
        else { return }
        response.headers += [
            ("Access-Control-Allow-Methods", methods.joined(separator: ", ")),
            ("Access-Control-Allow-Headers", fields),
            ("Access-Control-Max-Age", String(Self.maxAgeSeconds)),
        ]
    }

    private func allowedOrigin(of headers: HTTPHeaders) -> String? {
        let values = headers.values("Origin")
        guard values.count == 1, origins.contains(values[0]) else { return nil }
        return values[0]
    }
}
