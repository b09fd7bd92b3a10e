import JSON
import Ledger
import LedgerTestSupport
import Testing

@testable import LedgerAPI
@testable import LedgerSignIn

/// The console's page, its sessions, and the way to a sign-in.
@Suite(.overBothTransports) struct ConsoleTests {
    private static let events = "/v1/events?limit=1"

    private func service(hasConsole: Bool = true) throws -> TestService {
        try TestService {
            $0.tenants = [.default, tenant("acme")]
            $0.hasConsole = hasConsole
        }
    }

    @Test(arguments: [
        ("/console/", "../"), ("/console/search", "../"), ("/console/accounts/7", "../../"),
        ("/console/accounts/7/as-of", "../../../"), ("/console/accounts/7/", "../../../"),
        ("/t/acme/console/", "../"), ("/t/acme/console/accounts/7", "../../"),
        ("/t/acme/console/a/b/c/d/e/f", "../../../../../../"), ("/console/a%2Fb", nil),
    ]) func `every address below the console is the page, with the way to the root`(
        path: String, root: String?
    ) async throws {
        let service = try service()
        let answer = try await service.send("GET", path)
        guard let root else {
            #expect(answer.status == 404)
            return
        }
        #expect(answer.status == 200 && answer["Content-Type"] == "text/html; charset=utf-8")
        #expect(answer.body.contains("data-root=\"\(root)\""))
        #expect(answer.body.contains("src=\"\(root)assets/console/"))
        #expect(!answer.body.contains("{root}"))
        let policy = try #require(answer["Content-Security-Policy"])
        #expect(policy.contains("default-src 'none'") && policy.contains("trusted-types 'none'"))
        #expect(policy.contains("frame-ancestors 'none'") && policy.contains("base-uri 'none'"))
        #expect(answer["Referrer-Policy"] == "no-referrer")
        #expect(answer["X-Content-Type-Options"] == "nosniff")
        #expect(answer["Cross-Origin-Opener-Policy"] == "same-origin")
    }

    @Test func `the console has one address, and none without an identity provider`() async throws {
        let service = try service()
        let moved = try await service.send("GET", "/console")
        #expect(moved.status == 303 && moved["Location"] == "console/")
        #expect(try await service.send("POST", "/console/events", "{}").status == 405)
        #expect(try await service.send("GET", "/consoles").status == 404)
        #expect(try await service.send("GET", "/t/nowhere/console/").status == 404)
        let none = try self.service(hasConsole: false)
        for path in [
            "/console", "/console/", "/console/events", "/console/session", "/console/sign-in",
            "/console/callback",
        ] {
            #expect(try await none.send("GET", path).status == 404, "\(path)")
        }
        for path in ["/console/sign-out", "/console/role"] {
            #expect(try await none.send("POST", path, "{}").status == 404, "\(path)")
        }
        // Without a console, the cookie authenticates nothing.
        let secret = try await service.staff.signIn([.admin: .all])
        let cookie = [TestStaff.fields(of: secret)[0]]
        #expect(
            try await none.send("GET", Self.events, headers: cookie).summary
                == "401 INVALID_API_KEY")
    }

    @Test(arguments: [false, true]) func `the session says which changes two persons make`(
        erasesByTwo: Bool
    ) async throws {
        let service = try TestService {
            $0.hasConsole = true
            $0.eraseNeedsTwo = erasesByTwo
            $0.supportNeedsTwo = !erasesByTwo
        }
        let answer = try await service.send("GET", "/console/session")
        #expect(answer.json["erase_needs_two"] == .bool(erasesByTwo))
        #expect(answer.json["support_needs_two"] == .bool(!erasesByTwo))
    }

    @Test func `the session says who is signed in, and keeps no one signed in`() async throws {
        let service = try service()
        let before = try await service.send("GET", "/console/session")
        #expect(before.json["staff"] == .null && before.json["csrf_token"] == .null)
        #expect(before.text("tenant") == "default" && before["Cache-Control"] == "no-store")
        let secret = try await service.staff.signIn(
            [.support: .all, .admin: .only([tenant("acme")])])
        let fields = TestStaff.fields(of: secret)
        let cookie = [fields[0]]
        let answer = try await service.send("GET", "/console/session", headers: cookie)
        let staff = try #require(answer.json["staff"]?.members)
        #expect(staff["name"]?.string == "Sam Ample" && staff["role"]?.string == "support")
        #expect(staff["id"]?.string == "\(StaffID(bits: 1))")
        #expect(answer.text("csrf_token") == secret.token)
        #expect(answer.json["tenants"]?.array?.compactMap(\.string) == ["acme", "default"])
        #expect(answer.json["idle_seconds"]?.number == 1_800)
        #expect(before.json["expires_in"] == .null)
        #expect(answer.json["expires_in"]?.number == 43_200)
        #expect(!answer.body.contains(secret.cookie))
        let other = try await service.send("GET", "/t/acme/console/session", headers: cookie)
        #expect(other.json["staff"]?.members?["role"] == .null)
        #expect(
            other.json["staff"]?.members?["roles"]?.array?.compactMap(\.string)
                == ["support", "admin"])
        let foreign = cookie + [("Sec-Fetch-Site", "cross-site")]
        #expect(
            try await service.send("GET", "/console/session", headers: foreign).summary
                == "403 FORBIDDEN")
        for expiresIn in [42_300, nil] as [Double?] {
            service.clock.advance(seconds: 900)
            let later = try await service.send("GET", "/console/session", headers: cookie)
            #expect(later.json["expires_in"]?.number == expiresIn)
        }
        let after = try await service.send("GET", "/console/session", headers: cookie)
        #expect(after.json["staff"] == .null)
        #expect(
            try await service.send("GET", Self.events, headers: fields).summary
                == "401 INVALID_API_KEY")
    }

    @Test func `requests keep a session for twelve hours at most`() async throws {
        let service = try service()
        let fields = TestStaff.fields(of: try await service.staff.signIn([.auditor: .all]))
        for _ in 0..<35 {
            service.clock.advance(seconds: 1_200)
            #expect(try await service.send("GET", Self.events, headers: fields).status == 200)
        }
        service.clock.advance(seconds: 1_200)
        #expect(try await service.send("GET", Self.events, headers: fields).status == 401)
    }

    @Test func `signing out ends the session, or every one of the person`() async throws {
        let service = try service()
        let staff = service.staff
        var mine: [TestStaff.Fields] = []
        for _ in 0..<3 {
            mine.append(TestStaff.fields(of: try await staff.signIn([.auditor: .all])))
        }
        let other = TestStaff.fields(of: try await staff.signIn([.auditor: .all], number: 2))
        func isLive(_ fields: TestStaff.Fields) async throws -> Bool {
            try await service.send("GET", Self.events, headers: fields).status == 200
        }
        let one = try await service.send("POST", "/console/sign-out", "{}", headers: mine[0])
        #expect(one.status == 200)
        #expect(one["Set-Cookie"]?.hasPrefix("__Host-ledger-console=; Max-Age=0") == true)
        #expect(try await !isLive(mine[0]))
        #expect(try await isLive(mine[1]))
        let all = try await service.send(
            "POST", "/console/sign-out", #"{"everywhere":true}"#, headers: mine[1])
        #expect(all.status == 200)
        for fields in mine { #expect(try await !isLive(fields)) }
        #expect(try await isLive(other))
        // A copied cookie of an ended session can't end others, and is told so.
        let again = TestStaff.fields(of: try await staff.signIn([.auditor: .all]))
        #expect(
            try await service.send(
                "POST", "/console/sign-out", #"{"everywhere":true}"#, headers: mine[0]
            ).summary == "401 INVALID_API_KEY")
        #expect(
            try await service.send("POST", "/console/sign-out", "{}", headers: mine[0]).status
                == 200)
        for live in [other, again] { #expect(try await isLive(live)) }
    }

    @Test func `a person with several roles chooses one of those of the tenant`() async throws {
        let service = try service()
        let fields = TestStaff.fields(
            of: try await service.staff.signIn(
                [.auditor: .all, .support: .all, .admin: .only([tenant("acme")])]))
        func choose(_ role: String, at prefix: String = "") async throws -> Answer {
            try await service.send(
                "POST", prefix + "/console/role", "{\"role\":\"\(role)\"}", headers: fields)
        }
        #expect(
            try await service.send("GET", Self.events, headers: fields).summary == "403 FORBIDDEN")
        for role in ["admin", "root"] {
            #expect(try await choose(role).summary == "403 FORBIDDEN")
        }
        let chosen = try await choose("auditor")
        #expect(chosen.json["staff"]?.members?["role"]?.string == "auditor")
        #expect(try await service.send("GET", Self.events, headers: fields).status == 200)
        #expect(service.audit.access.accesses().last?.role == "auditor")
        #expect(try await choose("support").status == 200)
        #expect(try await service.send("GET", Self.events, headers: fields).status == 200)
        #expect(service.audit.access.accesses().last?.role == "support")
        #expect(try await choose("admin", at: "/t/acme").status == 200)
        #expect(
            try await service.send("GET", "/t/acme" + Self.events, headers: fields).status == 200)
        #expect(service.audit.access.accesses(of: tenant("acme")).last?.role == "admin")
    }

    @Test(arguments: ["/console/sign-out", "/console/role"])
    func `a changing request by the cookie needs the session's token`(path: String) async throws {
        let service = try service()
        let secret = try await service.staff.signIn([.support: .all, .auditor: .all])
        let (own, other) = (
            TestStaff.fields(of: secret),
            TestStaff.fields(of: try await service.staff.signIn([.support: .all], number: 2))
        )
        let body = path.hasSuffix("role") ? #"{"role":"support"}"# : "{}"
        for fields in [
            [], [own[0]], [own[0], other[1]], [own[1]], [own[0], own[1], own[1]],
            [own[0], own[1], ("Sec-Fetch-Site", "cross-site")],
            own + [("Authorization", "Bearer x")],
        ] as [TestStaff.Fields] {
            let answer = try await service.send("POST", path, body, headers: fields)
            #expect(answer.summary == "403 FORBIDDEN", "\(fields)")
        }
        #expect(service.staff.store.all.count == 2)
        #expect(
            try await service.send("GET", Self.events, headers: own).summary == "403 FORBIDDEN",
            "no role was chosen")
        #expect(try await service.send("POST", path, body, headers: own).status == 200)
    }

    @Test func `an erasure needs a sign-in of the last five minutes`() async throws {
        let service = try service()
        let ada = try await service.signIn("google", "ada")
        let reason = [("Ledger-Reason", "case 1")] as TestStaff.Fields
        let path = "/v1/accounts/\(ada.userID)"
        let fields = TestStaff.fields(of: try await service.staff.signIn([.admin: .all]))
        service.clock.advance(seconds: 300)
        let refused = try await service.send("DELETE", path, headers: fields + reason)
        #expect(refused.summary == "403 REAUTHENTICATION_REQUIRED")
        let line = try #require(service.audit.access.accesses().last)
        #expect(line.action == "account.erase" && line.outcome == "refused")
        #expect(line.principal == "staff:\(StaffID(bits: 1))")
        let preview = try await service.send(
            "POST", path + "/erasure/preview", headers: fields + reason)
        #expect(preview.status == 200)
        let fresh = TestStaff.fields(of: try await service.staff.signIn([.admin: .all]))
        #expect(try await service.send("DELETE", path, headers: fresh + reason).status == 200)
    }

    @Test func `a sign-in that leads nowhere comes back with its cause`() async throws {
        let service = try service()
        for (path, location) in [
            ("/console/sign-in", "./?sign_in=unavailable"),
            ("/console/sign-in?to=events%3Ftype%3Da", "./events?type=a&sign_in=unavailable"),
            ("/t/acme/console/sign-in?to=//evil.example", "./?sign_in=unavailable"),
            ("/console/callback?state=x&code=y", "./?sign_in=expired"),
            ("/console/callback", "./?sign_in=expired"),
        ] {
            let answer = try await service.send("GET", path)
            #expect(answer.status == 303 && answer["Location"] == location, "\(path)")
            #expect(
                answer["Set-Cookie"]?.contains("__Host-ledger-console-flow=; Max-Age=0") == true)
        }
        #expect(service.staff.store.all.isEmpty)
    }

    @Test(arguments: [
        "", "events?type=a&from=1", "accounts/7/as-of?as_of=2026-01-01T00:00:00Z", "a:b", "a%20b",
        "search/",
    ]) func `a path below the console is led back to`(path: String) {
        #expect(ConsolePath(path)?.address(in: .default) == "./" + path)
        #expect(ConsolePath(path)?.address(in: tenant("acme")) == "../t/acme/console/" + path)
    }

    @Test(arguments: [
        "/evil", "//evil.example", "/\\evil", "\\evil", "../account", "a/../../account", "..",
        "%2e%2e/account", ".%2E/x", "./x", "a//b", "a\nb", "a b", "é", "a#b", "<x>",
        String(repeating: "a", count: 1_025),
    ]) func `another path is not led back to`(path: String) {
        #expect(ConsolePath(path) == nil)
    }
}
