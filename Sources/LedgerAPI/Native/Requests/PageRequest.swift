internal import HTTP
internal import Ledger
internal import LedgerSignIn

/// The cookie of a page's session.
///
/// With the prefix, browsers take it from this host alone and over TLS (RFC 6265bis, section 4.1.3.2). `Strict` would
/// be left out where a link of another site, or a provider, leads to the page.
enum PageCookie {
    static let name = "__Host-ledger-account"
    static let parameter = Parameter(
        name: name, location: .cookie, schema: .text(""), about: "The session of the page")
    static let attributes = "Path=/; Secure; HttpOnly; SameSite=Lax"

    /// Returns the field that sets the cookie, until the browser is closed or the session expires.
    static func set(_ session: PageSessions.Session) -> (name: String, value: String) {
        ("Set-Cookie", "\(name)=\(session.cookie); \(attributes)")
    }

    static let deleted = (name: "Set-Cookie", value: "\(name)=; Max-Age=0; \(attributes)")
}

/// The cookie by which a page's browser is a known device; it stays after a sign-out, and opens nothing.
enum PageDeviceCookie {
    static let name = "__Host-ledger-device"

    static func set(_ token: String) -> (name: String, value: String) {
        (
            "Set-Cookie",
            "\(name)=\(token); Max-Age=\(AddressCodes.deviceTokenSeconds); \(PageCookie.attributes)"
        )
    }
}

/// The cookie of a page's flow at a provider.
enum PageFlowCookie {
    static let name = "__Host-ledger-account-flow"
    static let parameter = Parameter(
        name: name, location: .cookie, schema: .text(""), about: "The flow of the page")
    /// The `flow_code` of a page, which stands for the code in the cookie.
    static let codeInBody = "cookie"

    static func set(_ value: String) -> (name: String, value: String) {
        (
            "Set-Cookie",
            "\(name)=\(value); Max-Age=\(2 * BrowserFlows.seconds); \(PageCookie.attributes)"
        )
    }

    static let deleted = (
        name: "Set-Cookie", value: "\(name)=; Max-Age=0; \(PageCookie.attributes)"
    )
}

/// The requests of the pages for people.
///
/// A browser sends the cookie with requests that any site makes, so the cookie alone permits nothing: a page repeats
/// its session's token in a field that other sites can't send without permission by CORS, which they don't get.
enum PageRequest {
    static let tokenField = "Ledger-CSRF"
    /// The field of a sign-in beside the page's session, to the account that is to be merged.
    static let besideField = "Ledger-Beside"
    private static let siteField = "Sec-Fetch-Site"
    private static let ownSite = "same-origin"

    /// Returns the session of the page that sends a request; nil for another client, which has no token.
    ///
    /// - Throws: 403 for a token without its cookie, and for a request of another site. With `Authorization` neither
    ///   token nor cookie is looked at.
    static func session(
        of headers: HTTPHeaders, in tenant: TenantID, at now: Timestamp, _ pages: PageSessions
    ) throws(APIError) -> PageSessions.Session? {
        guard headers.count(of: tokenField) > 0, headers.count(of: "Authorization") == 0 else {
            return nil
        }
        let tokens = headers.all(tokenField)
        guard tokens.count == 1, isOfOwnSite(headers),
            let session = session(in: headers, in: tenant, at: now, pages),
            session.permits(tokens[0])
        else { throw .notOfPage }
        return session
    }

    /// Whether a request has the cookie of a page after a sign-in, and no `Authorization`.
    static func hasCookie(
        _ headers: HTTPHeaders, in tenant: TenantID, at now: Timestamp, _ pages: PageSessions
    ) -> Bool {
        headers.count(of: "Authorization") == 0
            && session(in: headers, in: tenant, at: now, pages)?.caller != nil
    }

    /// Checks that a browser made the request for a page of this server, if it says so.
    static func isOfOwnSite(_ headers: HTTPHeaders) -> Bool {
        headers.all(siteField).allSatisfy { $0 == ownSite }
    }

    private static func session(
        in headers: HTTPHeaders, in tenant: TenantID, at now: Timestamp, _ pages: PageSessions
    ) -> PageSessions.Session? {
        for cookie in Cookies.values(named: PageCookie.name, in: headers) {
            if let session = pages.session(cookie, in: tenant, at: now) { return session }
        }
        return nil
    }
}

extension RouteCall {
    /// The flow of the page that sends the request, as its cookie has it.
    var pageFlow: PageSessions.Flow? {
        for cookie in cookies(named: PageFlowCookie.name) {
            if let flow = services.pages.flow(cookie, in: tenant, at: now) { return flow }
        }
        return nil
    }

    /// Returns the field that makes a session of the ledger that of the page.
    func pageCookie(of grant: Grant) -> (name: String, value: String) {
        let caller = Caller(account: grant.account, session: grant.session)
        return PageCookie.set(services.pages.begin(caller, in: tenant, at: now))
    }
}
