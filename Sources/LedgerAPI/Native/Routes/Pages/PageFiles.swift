internal import HTTP
internal import PageAssets

/// `GET /account`: the page on which a person signs in, and sees, links, unlinks and combines accounts.
///
/// For browsers: like the other routes of pages, it is in no document.
struct AccountPageRoute: Route {
    static let method = "GET"
    static let path = "/account"
    static let requiresServedTenant = false
    static let operation = Operation(
        id: "show_account_page", tag: .account, summary: "The page of the account holder",
        access: .anyone, parameters: [PageFiles.entityTags], answers: [])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        var page = try PageFiles.answer(call, "account/index.html")
        page.headers += PageFiles.policies
        return page
    }
}

/// `GET /assets/{folder}/{file}`: the styles, scripts and texts of the pages.
struct PageAssetRoute: Route {
    static let method = "GET"
    static let path = "/assets/{folder}/{file}"
    static let requiresServedTenant = false
    static let operation = Operation(
        id: "get_page_asset", tag: .service, summary: "A file of the pages",
        access: .anyone, parameters: [PageFiles.entityTags], answers: [])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let path = [call.captures["folder"], call.captures["file"]].compactMap(\.self)
            .joined(separator: "/")
        // A page has an address of its own, with its policies.
        guard !path.hasSuffix(".html") else { throw .notFound }
        return try PageFiles.answer(call, path)
    }
}

/// The files of the pages over HTTP.
enum PageFiles {
    static let entityTags = Parameter(
        name: "If-None-Match", location: .header, schema: .text(""),
        about: "The entity tags that the browser has")

    /// Scripts of this server alone, which can't make HTML of texts; no page may show this one in a frame.
    ///
    /// Nothing is loaded from elsewhere. The addresses of providers are opened, and never the target of a form.
    static let contentSecurityPolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'",
        "connect-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
        "require-trusted-types-for 'script'", "trusted-types 'none'",
    ].joined(separator: "; ")

    /// The header fields of a page.
    static let policies = [
        (name: "Content-Security-Policy", value: contentSecurityPolicy),
        (name: "Referrer-Policy", value: "no-referrer"),
        (name: "Cross-Origin-Opener-Policy", value: "same-origin"),
    ]

    /// Returns a file, or 304 for a browser that has it.
    static func answer(_ call: RouteCall, _ path: String) throws(APIError) -> HTTPResponse {
        guard let asset = PageAssets.all[path] else { throw .notFound }
        let headers = [
            (name: "Content-Type", value: asset.mediaType), (name: "ETag", value: asset.entityTag),
            (name: "Cache-Control", value: "no-cache"),
            (name: "X-Content-Type-Options", value: "nosniff"),
            (name: "Cross-Origin-Resource-Policy", value: "same-origin"),
        ]
        let known = try call.values(of: entityTags).flatMap { $0.split(separator: ",") }
        let isKnown = known.contains { tag in
            let tag = tag.drop { $0 == " " }
            return tag == "*" || tag == asset.entityTag || tag == "W/\(asset.entityTag)"
        }
        return HTTPResponse(status: isKnown ? 304 : 200, headers: headers, body: asset.bytes)
    }
}
