internal import HTTP
internal import Ledger
internal import LedgerSignIn

/// One wire contract on the shared pipeline: everything in which two contracts differ.
///
/// The pipeline finds the route, checks the tenant, authenticates callers in one order of checks and
/// submits commands. It knows no surface's words. A further surface is a folder with a value of this
/// kind; `docs/surfaces.md` says where each of its differences goes.
protocol Surface: Sendable {
    /// The routes.
    var routes: [any Route.Type] { get }

    /// Returns every path at which a route is found, with parameters in braces.
    func paths(of route: any Route.Type) -> [String]

    /// Returns the tenant that a path names; nil when no tenant can have the name.
    func tenant(in captures: RouteCaptures) -> TenantID?

    /// Returns the response to an error.
    func response(to error: APIError) -> HTTPResponse

    /// Returns the response to a request that the server rejects before it is complete.
    func response(to rejection: HTTPRejection) -> HTTPResponse

    /// Returns the word for an error in the access log.
    func word(for error: APIError) -> String

    /// The header fields that pages of other origins may send, separated by commas.
    var requestHeaders: String { get }

    /// The header fields of responses that pages of other origins may read, separated by commas.
    var exposedHeaders: String { get }

    /// Reads the reason that a principal states for a request; nil when it states none.
    ///
    /// - Throws: the error for a malformed reason.
    func reason(of call: RouteCall) throws(APIError) -> String?

    /// Returns the account holder that an access token names; nil unless the token was minted for
    /// this tenant and is valid now.
    func caller(
        of token: String, in tenant: TenantID, at now: Timestamp, _ services: APIServices
    ) -> Caller?

    /// Returns the session of the page for people that sends a request; nil for another client.
    ///
    /// - Throws: the error for a request that claims to be a page's and is not.
    func page(
        of headers: HTTPHeaders, in tenant: TenantID, at now: Timestamp, _ services: APIServices
    ) throws(APIError) -> PageSessions.Session?

    /// Returns the secret of the console's session that sends a request; nil for another client.
    ///
    /// - Throws: the error for a request that has the session's cookie and is not the console's.
    func staffSecret(
        of headers: HTTPHeaders, _ sessions: StaffSessions
    ) throws(APIError) -> StaffSessions.Secret?

    /// Whether a request has the cookie of a page after a sign-in, and nothing else by which it is authenticated.
    func hasPageCookie(
        _ headers: HTTPHeaders, in tenant: TenantID, at now: Timestamp, _ services: APIServices
    ) -> Bool

    /// Mints an access token for a session of an account with these ids in other systems; nil when they are unknown.
    func accessToken(
        for grant: Grant, names: [ExternalName]?, in tenant: TenantID, _ services: APIServices
    ) -> String
}
