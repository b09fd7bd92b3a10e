internal import HTTP
internal import JSON
internal import Ledger
internal import LedgerSignIn

/// `GET /console/session`: who is signed in, in which role, and until when.
///
/// The first request of the console, which has no token yet. It changes nothing and is no use of the session, so asking
/// keeps no one signed in.
struct ConsoleSessionRoute: Route {
    static let method = "GET"
    static let path = "/console/session"
    static let operation = Operation(
        id: "get_console_session", tag: .log, summary: "The session of the console",
        access: .anyone, parameters: [PageSessionRoute.site, ConsoleCookie.parameter],
        answers: [])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        guard let staff = call.services.staff else { throw .notFound }
        guard try call.values(of: PageSessionRoute.site).allSatisfy({ $0 == "same-origin" }) else {
            throw .notOfPage
        }
        let secret = try call.values(of: ConsoleCookie.parameter).lazy
            .compactMap { staff.sessions.secret(in: $0) }.first
        let session = try await call.staffSession(of: secret, isUse: false)
        return .json(ConsoleSessionAnswer(call, secret, session))
    }
}

/// `POST /console/sign-out`: ends the session, or every session of the person.
struct ConsoleSignOutRoute: Route {
    static let method = "POST"
    static let path = "/console/sign-out"
    static let operation = Operation(
        id: "sign_out_of_console", tag: .log, summary: "End the session of the console",
        access: .anyone, body: ConsoleSignOutBody.self, answers: [])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        guard let staff = call.services.staff else { throw .notFound }
        guard let secret = try call.staffSecret() else { throw .notOfPage }
        let everywhere = try call.body().flag(ConsoleSignOutBody.everywhere) ?? false
        let session = try await call.staffSession(of: secret, isUse: false)
        // Without a session, the person whose sessions should end is unknown.
        if everywhere, session == nil { throw .apiKeyInvalid }
        do {
            if everywhere, let session {
                try await staff.store.endAll(of: session.person.id)
            } else {
                try await staff.store.end(secret.digest)
            }
        } catch {
            throw .faulted(error)
        }
        return .json(bytes: Array("{}".utf8), headers: [ConsoleCookie.deleted])
    }
}

/// `POST /console/role`: chooses one of several roles.
struct ConsoleRoleRoute: Route {
    static let method = "POST"
    static let path = "/console/role"
    static let operation = Operation(
        id: "choose_console_role", tag: .log, summary: "Choose a role", access: .anyone,
        body: ConsoleRoleBody.self, answers: [])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        guard let staff = call.services.staff else { throw .notFound }
        guard let secret = try call.staffSecret() else { throw .notOfPage }
        guard let session = try await call.staffSession(of: secret, isUse: true) else {
            throw .apiKeyInvalid
        }
        let text = try call.body().text(ConsoleRoleBody.role)
        guard let role = Role(rawValue: text),
            session.person.roles.roles(in: call.tenant).contains(role)
        else { throw .forbidden }
        do {
            try await staff.store.replaceContent(
                of: secret.digest, with: staff.sessions.choosing(role, in: session))
        } catch {
            throw .faulted(error)
        }
        let chosen = try await call.staffSession(of: secret, isUse: false)
        return .json(ConsoleSessionAnswer(call, secret, chosen))
    }
}

private enum ConsoleSignOutBody: BodyForm {
    static let name = "ConsoleSignOut"
    static let everywhere = OptionalFlag(
        name: "everywhere", about: "Whether every session of the person ends", example: false)
    static let members: [any BodyMember] = [everywhere]
    static let mayBeEmpty = true
}

private enum ConsoleRoleBody: BodyForm {
    static let name = "ConsoleRole"
    static let role = RequiredText(
        name: "role", bytesMax: 16, about: "`auditor`, `support` or `admin`", example: "support")
    static let members: [any BodyMember] = [role]
}

/// The state of the console.
private struct ConsoleSessionAnswer: JSONWritable {
    private static let tenantsMax = 1_000

    private let tenant: TenantID
    private let token: String?
    private let session: StaffSessions.Session?
    private let tenants: [TenantID]
    private let eraseNeedsTwo: Bool
    private let supportNeedsTwo: Bool
    /// The seconds until the session ends, for a page on a machine with a wrong clock.
    private let expiresIn: Int64?

    init(
        _ call: RouteCall, _ secret: StaffSessions.Secret?, _ session: StaffSessions.Session?
    ) {
        tenant = call.tenant
        let policy = call.services.configurations[call.tenant]?.policy
        eraseNeedsTwo = policy?.eraseNeedsTwo == true
        supportNeedsTwo = policy?.supportNeedsTwo == true
        self.session = session
        expiresIn = session.map { $0.expiresAt.seconds - call.now.seconds }
        token = session.flatMap { _ in secret?.token }
        guard let session else {
            tenants = []
            return
        }
        let known = Set(call.services.configurations.keys).union([call.tenant])
        tenants = Array(
            known.filter { session.person.roles.contain($0) }.sorted().prefix(Self.tenantsMax))
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("csrf_token")
            writer.textOrNull(token)
            writer.member("tenant", tenant.description)
            writer.name("tenants")
            writer.texts(tenants.map(\.description))
            writer.name("staff")
            if let session {
                writer.object { writer in
                    writer.member("id", session.person.id.description)
                    writer.member("name", session.person.name)
                    writer.name("role")
                    writer.textOrNull(session.role(in: tenant)?.rawValue)
                    writer.name("roles")
                    writer.texts(session.person.roles.roles(in: tenant).map(\.rawValue))
                }
            } else {
                writer.null()
            }
            writer.name("erase_needs_two")
            writer.flag(eraseNeedsTwo)
            writer.name("support_needs_two")
            writer.flag(supportNeedsTwo)
            writer.name("idle_seconds")
            writer.number(StaffSessions.idleSeconds)
            writer.name("expires_at")
            writer.textOrNull(session?.expiresAt.description)
            writer.name("expires_in")
            if let expiresIn { writer.number(expiresIn) } else { writer.null() }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func textOrNull(_ text: String?) {
        if let text { self.text(text) } else { null() }
    }
}
