internal import HTTP
internal import JSON
internal import Ledger
internal import LedgerSignIn

/// `GET /account/session`: the state of the page that no script could know otherwise.
///
/// The first request of a page, which has no token yet: it changes nothing but the cookie.
struct PageSessionRoute: Route {
    static let method = "GET"
    static let path = "/account/session"
    static let returnTo = Parameter(
        name: "return", schema: .text(""), about: "The address to which the page is to lead back")
    static let languages = Parameter(
        name: "Accept-Language", location: .header, schema: .text(""), about: "Wanted languages")
    static let site = Parameter(
        name: "Sec-Fetch-Site", location: .header, schema: .text(""), about: "The page's relation")
    static let operation = Operation(
        id: "get_page_session", tag: .account, summary: "The session of the page",
        access: .anyone,
        parameters: [returnTo, languages, site, PageCookie.parameter, PageFlowCookie.parameter],
        answers: [])

    private static let languagesBytesMax = 512

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        guard try call.values(of: Self.site).allSatisfy({ $0 == "same-origin" }) else {
            throw .notOfPage
        }
        let pages = call.services.pages
        let known = try call.values(of: PageCookie.parameter).lazy
            .compactMap { pages.session($0, in: call.tenant, at: call.now) }.first
        let session = known ?? pages.begin(nil, in: call.tenant, at: call.now)
        let wanted = try call.values(of: Self.returnTo).first
        let languages = try call.values(of: Self.languages).joined(separator: ",")
        let answer = PageStateAnswer(
            session: session, flow: call.pageFlow,
            returnTo: wanted.flatMap { call.configuration.returnAddresses.permit($0) ? $0 : nil },
            languages: String(languages.prefix(Self.languagesBytesMax)),
            allowsSeveral: call.configuration.policy.severalPerProvider)
        return .json(answer, headers: known == nil ? [PageCookie.set(session)] : [])
    }
}

/// `POST /account/sign-out`: ends the session of the page, or every session of the account.
struct PageSignOutRoute: Route {
    static let method = "POST"
    static let path = "/account/sign-out"
    static let operation = Operation(
        id: "sign_out_of_page", tag: .account, summary: "End the session of the page",
        access: .anyone, body: PageSignOutBody.self, answers: [])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        guard let page = call.page else { throw .notOfPage }
        let everywhere = try call.body().flag(PageSignOutBody.everywhere) ?? false
        if let caller = page.caller {
            do throws(APIError) {
                try await call.submit(
                    SignOut(caller: caller, scope: everywhere ? .everywhere : .session))
            } catch .refused(.sessionEnded) where !everywhere {
                // Only its cookie is left. With `everywhere`, other sessions may be open.
            }
        }
        return .json(
            bytes: Array("{}".utf8), headers: [PageCookie.deleted, PageFlowCookie.deleted])
    }
}

private enum PageSignOutBody: BodyForm {
    static let name = "PageSignOut"
    static let everywhere = OptionalFlag(
        name: "everywhere", about: "Whether every session of the account ends", example: false)
    static let members: [any BodyMember] = [everywhere]
    static let mayBeEmpty = true
}

/// The answer to a sign-in on a page, whose session is in the cookie, or beside which the page has another one.
struct PageSessionAnswer: JSONWritable {
    let isNewUser: Bool
    let challenge: ChallengeID?
    let accessToken: String?

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("is_new_user")
            writer.flag(isNewUser)
            writer.member("challenge_id", challenge?.description)
            writer.member("access_token", accessToken)
        }
    }
}

private struct PageStateAnswer: JSONWritable {
    let session: PageSessions.Session
    let flow: PageSessions.Flow?
    let returnTo: String?
    let languages: String
    let allowsSeveral: Bool

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("csrf_token", session.token)
            writer.member("user_id", session.caller?.account.description)
            if let flow {
                writer.name("flow")
                writer.object { writer in
                    writer.member("provider", flow.provider.description)
                    writer.member("purpose", flow.purpose)
                    writer.member("error", flow.error)
                }
            }
            writer.member("return_to", returnTo)
            writer.member("accept_language", languages)
            writer.name("several_per_provider")
            writer.flag(allowsSeveral)
        }
    }
}
