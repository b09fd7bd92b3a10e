import Ledger
import LedgerAPI
import LedgerSignIn
import LedgerTestSupport
import Testing

/// Properties of every route that takes an API key.
@Suite(.overBothTransports) struct AuditRouteTests {
    /// A request to each route, for an administrator of Ada's tenant; `ACCOUNT`, `EVENT`, `HOLD`,
    /// `CONFLICT` and `IDENTITY` are replaced by her ids, and `NEW` by an unused one.
    private static let requests = [
        "GET /v1/access-log": "/v1/access-log",
        "GET /v1/audit/openapi.json": "/v1/audit/openapi.json",
        "GET /v1/audit/messages": "/v1/audit/messages?account_id=ACCOUNT",
        "GET /v1/conflicts": "/v1/conflicts?account=ACCOUNT",
        "POST /v1/exports": "/v1/exports",
        "GET /v1/overview": "/v1/overview?days=7",
        "GET /v1/holds": "/v1/holds",
        "GET /v1/identities/{identity_id}/owners": "/v1/identities/IDENTITY/owners",
        "GET /v1/accounts/by-external-id/{source}/{external_id}":
            "/v1/accounts/by-external-id/auth0/auth0%7Ceve",
        "GET /v1/conflicts/counts": "/v1/conflicts/counts",
        "GET /v1/conflicts/{event_id}": "/v1/conflicts/CONFLICT",
        "PUT /v1/conflicts/{event_id}/review": "/v1/conflicts/CONFLICT/review",
        "DELETE /v1/conflicts/{event_id}/review": "/v1/conflicts/CONFLICT/review",
        "GET /v1/events": "/v1/events?disclose=true",
        "GET /v1/events/stream": "/v1/events/stream",
        "GET /v1/events/{event_id}": "/v1/events/EVENT?disclose=true",
        "GET /v1/search": "/v1/search?q=ACCOUNT",
        "POST /v1/search": "/v1/search",
        "GET /v1/log/checkpoint": "/v1/log/checkpoint",
        "GET /v1/log/checkpoints": "/v1/log/checkpoints",
        "GET /v1/log/inclusion": "/v1/log/inclusion?position=1",
        "GET /v1/log/consistency": "/v1/log/consistency?old=6",
        "GET /v1/log/keys": "/v1/log/keys",
        "GET /v1/accounts/{id}": "/v1/accounts/ACCOUNT?disclose=true",
        "GET /v1/accounts/{id}/history": "/v1/accounts/ACCOUNT/history?disclose=true",
        "GET /v1/accounts/{id}/diff":
            "/v1/accounts/ACCOUNT/diff?from=2020-01-01T00:00:00Z&disclose=true",
        "GET /v1/accounts/{id}/timeline": "/v1/accounts/ACCOUNT/timeline?disclose=true",
        "POST /v1/accounts/{id}/holds": "/v1/accounts/ACCOUNT/holds",
        "PUT /v1/accounts/{id}/holds/{hold}": "/v1/accounts/ACCOUNT/holds/NEW",
        "DELETE /v1/accounts/{id}/holds/{hold}": "/v1/accounts/ACCOUNT/holds/HOLD",
        "DELETE /v1/accounts/{id}": "/v1/accounts/ACCOUNT",
        "POST /v1/accounts/{id}/erasure/preview": "/v1/accounts/ACCOUNT/erasure/preview",
        "GET /v1/erasure-requests": "/v1/erasure-requests?account=ACCOUNT",
        "POST /v1/accounts/{id}/erasure/requests/{request_id}/confirm":
            "/v1/accounts/ACCOUNT/erasure/requests/HOLD/confirm",
        "DELETE /v1/accounts/{id}/erasure/requests/{request_id}":
            "/v1/accounts/ACCOUNT/erasure/requests/HOLD",
        "POST /v1/accounts/{id}/merge/preview": "/v1/accounts/ACCOUNT/merge/preview",
        "POST /v1/accounts/{id}/merge": "/v1/accounts/ACCOUNT/merge",
        "POST /v1/merges/{event_id}/undo/preview": "/v1/merges/EVENT/undo/preview",
        "POST /v1/merges/{event_id}/undo": "/v1/merges/EVENT/undo",
        "POST /v1/accounts/{id}/identities/{identity_id}/relink/preview":
            "/v1/accounts/ACCOUNT/identities/IDENTITY/relink/preview",
        "POST /v1/accounts/{id}/identities/{identity_id}/relink":
            "/v1/accounts/ACCOUNT/identities/IDENTITY/relink",
        "POST /v1/accounts/{id}/disable/preview": "/v1/accounts/ACCOUNT/disable/preview",
        "POST /v1/accounts/{id}/disable": "/v1/accounts/ACCOUNT/disable",
        "POST /v1/accounts/{id}/enable/preview": "/v1/accounts/ACCOUNT/enable/preview",
        "POST /v1/accounts/{id}/enable": "/v1/accounts/ACCOUNT/enable",
        "POST /v1/accounts/{id}/end-sessions/preview": "/v1/accounts/ACCOUNT/end-sessions/preview",
        "POST /v1/accounts/{id}/end-sessions": "/v1/accounts/ACCOUNT/end-sessions",
        "POST /v1/accounts/{id}/factors/{factor_id}/removal/preview":
            "/v1/accounts/ACCOUNT/factors/IDENTITY/removal/preview",
        "POST /v1/accounts/{id}/factors/{factor_id}/removal":
            "/v1/accounts/ACCOUNT/factors/IDENTITY/removal",
        "POST /v1/accounts/{id}/factors/{factor_id}/keep":
            "/v1/accounts/ACCOUNT/factors/IDENTITY/keep",
        "POST /v1/accounts/{id}/identities/{identity_id}/unlink/preview":
            "/v1/accounts/ACCOUNT/identities/IDENTITY/unlink/preview",
        "POST /v1/accounts/{id}/identities/{identity_id}/unlink":
            "/v1/accounts/ACCOUNT/identities/IDENTITY/unlink",
        "POST /v1/accounts/{id}/identities/{identity_id}/keep":
            "/v1/accounts/ACCOUNT/identities/IDENTITY/keep",
    ]

    /// The bodies of the others; `OTHER` is replaced by another account's id.
    private static let bodies = [
        "PUT /v1/conflicts/{event_id}/review": #"{"note":"looked at"}"#,
        "POST /v1/search": #"{"query":"OTHER"}"#,
        "POST /v1/exports": "{}",
        "POST /v1/accounts/{id}/erasure/requests/{request_id}/confirm":
            #"{"plan_digest":"A"}"#,
        "POST /v1/accounts/{id}/merge/preview": #"{"absorb":"OTHER"}"#,
        "POST /v1/accounts/{id}/merge": #"{"absorb":"OTHER","plan_digest":"A","case":"T"}"#,
        "POST /v1/merges/{event_id}/undo": #"{"case":"T"}"#,
        "POST /v1/accounts/{id}/identities/{identity_id}/relink": #"{"case":"T"}"#,
        "POST /v1/accounts/{id}/disable": #"{"case":"T"}"#,
        "POST /v1/accounts/{id}/enable": #"{"case":"T"}"#,
        "POST /v1/accounts/{id}/end-sessions": #"{"case":"T"}"#,
        "POST /v1/accounts/{id}/factors/{factor_id}/removal": #"{"case":"T"}"#,
        "POST /v1/accounts/{id}/factors/{factor_id}/keep": #"{"case":"T"}"#,
        "POST /v1/accounts/{id}/identities/{identity_id}/unlink": #"{"case":"T"}"#,
        "POST /v1/accounts/{id}/identities/{identity_id}/keep": #"{"case":"T"}"#,
    ]

    /// The requests that the ledger refuses, which add a second record: Ada is under a hold, the
    /// plan was never shown, the event is not a merge, the identity is linked, and it is the only one.
    private static let refusals = [
        "DELETE /v1/accounts/{id}": 409,
        "POST /v1/accounts/{id}/erasure/requests/{request_id}/confirm": 409,
        "DELETE /v1/accounts/{id}/erasure/requests/{request_id}": 404,
        "POST /v1/accounts/{id}/merge": 409,
        "POST /v1/merges/{event_id}/undo/preview": 404, "POST /v1/merges/{event_id}/undo": 404,
        "POST /v1/accounts/{id}/identities/{identity_id}/relink/preview": 409,
        "POST /v1/accounts/{id}/identities/{identity_id}/relink": 409,
        "POST /v1/accounts/{id}/identities/{identity_id}/unlink/preview": 400,
        "POST /v1/accounts/{id}/identities/{identity_id}/unlink": 400,
        "POST /v1/accounts/{id}/factors/{factor_id}/removal/preview": 404,
        "POST /v1/accounts/{id}/factors/{factor_id}/removal": 404,
        "POST /v1/accounts/{id}/factors/{factor_id}/keep": 404,
    ]

    /// The routes that take an access token or nothing.
    private static let others: Set<String> = [
        "POST /v1/auth/sign-in/{provider}", "POST /v1/auth/codes/{code_provider}",
        "POST /v1/account/codes/{code_provider}", "POST /v1/auth/sign-up/{password_provider}",
        "POST /v1/auth/password-resets/{password_provider}",
        "POST /v1/auth/password-resets/{password_provider}/complete", "POST /v1/account/password",
        "POST /v1/account/addresses/{code_provider}",
        "POST /v1/auth/address-returns/{code_provider}",
        "POST /v1/auth/address-returns/{code_provider}/complete",
        "POST /v1/auth/flows", "GET /v1/auth/flows/start", "POST /v1/auth/flows/start",
        "GET /v1/auth/flows/callback/{provider}", "POST /v1/auth/flows/callback/{provider}",
        "GET /v1/providers", "GET /account", "GET /assets/{folder}/{file}", "GET /account/session",
        "POST /account/sign-out", "POST /account/flows", "GET /account/callback/{provider}",
        "POST /account/qr-code", "GET /console", "GET /console/", "GET /console/sign-in",
        "GET /console/callback", "GET /console/session", "POST /console/sign-out",
        "POST /console/role",
        "POST /v1/auth/refresh", "POST /v1/auth/sign-out", "POST /v1/auth/second-factor",
        "POST /v1/auth/second-factor/code", "POST /v1/auth/second-factor/passkey",
        "POST /v1/account/factor-enrolments/passkey",
        "POST /v1/auth/passkeys/{passkey_provider}/create",
        "POST /v1/auth/passkeys/{passkey_provider}/get",
        "POST /v1/account/passkeys/{passkey_provider}/create",
        "POST /v1/account/passkeys/{passkey_provider}/get",
        "GET /v1/account/factors", "POST /v1/account/factor-enrolments",
        "POST /v1/account/factors", "DELETE /v1/account/factors/{factor_id}",
        "POST /v1/account/recovery-codes", "POST /v1/account/factors/{factor_id}/keep",
        "POST /v1/auth/link/{provider}", "DELETE /v1/auth/link/{provider}", "GET /v1/account",
        "GET /v1/account/activity",
        "POST /v1/account/identities/{identity_id}/keep",
        "PUT /v1/account/identities/{identity_id}/name",
        "GET /.well-known/jwks.json", "GET /healthz", "GET /readyz", "GET /openapi.json",
        "GET /docs",
        "POST /v1/account/merge/preview", "POST /v1/account/merge",
    ]

    @Test func `every route is in one of the tables`() {
        #expect(Set(API.routes) == Self.others.union(Self.requests.keys))
    }

    /// Ada's sealed ledger, in which she is under a hold.
    private struct Fixture {
        let service: TestService
        let ada: Person
        let prefix: String
        private let bob: Person
        private let hold: HoldID
        private let identity: IdentityID
        private let conflict: EventID

        init(_ tenant: TenantID = .default) async throws {
            let acme = LedgerTestSupport.tenant("acme")
            let service = try TestService { $0.tenants = [.default, acme] }
            prefix = tenant == .default ? "" : "/t/\(tenant)"
            ada = try await service.signIn("google", "ada", tenant: prefix)
            bob = try await service.signIn("apple", "bob", tenant: prefix)
            self.service = service
            service.audit.proofs.seal(at: service.clock.now)
            identity = try #require(
                service.ledger.events(of: tenant).lazy.compactMap { event in
                    if case .providerLinked(let fact) = event { fact.identity } else { nil }
                }.first)
            hold = HoldID(at: service.clock.now, random: 1)
            let held = try await service.send(
                "PUT", "\(prefix)/v1/accounts/\(ada.userID)/holds/\(hold)",
                token: try service.audit.key(.admin, tenant: tenant),
                headers: [("Ledger-Reason", "case 1")])
            #expect(held.status == 200, "\(held.body)")
            let refused = try await service.send(
                "POST", "\(prefix)/v1/auth/link/google",
                "{\"id_token\":\"\(service.idToken("google", "ada"))\"}", token: bob.accessToken)
            #expect(refused.summary == "409 PROVIDER_CONFLICT")
            conflict = try #require(service.ledger.recordings(of: tenant).last).recorded.id
            try await service.importAccount(named: "auth0|eve", in: tenant)
            service.audit.proofs.seal(at: service.clock.now)
        }

        func send(
            _ route: String, prefix: String? = nil, token: String?, fields: TestStaff.Fields = []
        ) async throws -> Answer {
            let event = service.ledger.recordings(of: tenant)[2].recorded.id
            let target = (AuditRouteTests.requests[route] ?? "/")
                .replacing("ACCOUNT", with: ada.userID).replacing("EVENT", with: "\(event)")
                .replacing("CONFLICT", with: "\(conflict)")
                .replacing("HOLD", with: "\(hold)").replacing("IDENTITY", with: "\(identity)")
                .replacing("NEW", with: "\(HoldID(at: service.clock.now, random: 2))")
            return try await service.send(
                String(route.prefix { $0 != " " }), (prefix ?? self.prefix) + target,
                AuditRouteTests.bodies[route]?.replacing("OTHER", with: bob.userID), token: token,
                headers: [("Ledger-Reason", "case 2")] + fields)
        }

        var tenant: TenantID { prefix.isEmpty ? .default : LedgerTestSupport.tenant("acme") }

        /// Returns the number of events in the log, and of records in a tenant's access log.
        func counts(of other: TenantID? = nil) -> [Int] {
            [
                service.ledger.recordings(of: tenant).count,
                service.audit.access.accesses(of: other ?? tenant).count,
            ]
        }
    }

    @Test(arguments: requests.keys.sorted())
    func `each is answered, with one record in the access log`(route: String) async throws {
        let fixture = try await Fixture()
        let key = try fixture.service.audit.key(.admin)
        let before = fixture.counts()
        let answer = try await fixture.send(route, token: key)
        #expect(answer.status == Self.refusals[route] ?? 200, "\(answer.body)")
        let lines = fixture.service.audit.access.accesses()[before[1]...]
        #expect(lines.count == (Self.refusals[route] == nil ? 1 : 2))
        #expect(lines.first?.reason == "case 2")
        let asksForData = (Self.requests[route] ?? "").contains("disclose=true")
        #expect(lines.first?.isDisclosed == asksForData)
        #expect(answer.body.contains("ada@example.com") == asksForData)
    }

    @Test(arguments: requests.keys.sorted(), [LedgerFault.unavailable, .overloaded])
    func `nothing is shown or executed that cannot be recorded`(
        route: String, fault: LedgerFault
    ) async throws {
        let fixture = try await Fixture()
        let keys = try Role.allCases.map { try fixture.service.audit.key($0) }
        let before = fixture.counts()
        fixture.service.audit.access.failRecords(with: fault)
        for key in keys {
            let answer = try await fixture.send(route, token: key)
            #expect(answer.summary == "503 UNAVAILABLE", "\(answer.body)")
            #expect(answer["Retry-After"] != nil)
            #expect(!answer.body.contains("ada"))
        }
        #expect(fixture.counts() == before)
    }

    @Test(arguments: requests.keys.sorted(), [TenantID.default, tenant("acme")])
    func `a key opens nothing of another tenant`(route: String, home: TenantID) async throws {
        let fixture = try await Fixture(home)
        let foreign = home == .default ? tenant("acme") : TenantID.default
        let key = try fixture.service.audit.key(.admin, tenant: foreign)
        let before = fixture.counts()
        // The key is invalid at the other tenant's paths.
        let there = try await fixture.send(route, token: key)
        #expect(there.summary == "401 INVALID_API_KEY", "\(there.body)")
        #expect(fixture.counts() == before)
        // At its own paths it finds nothing of the other tenant, even with known ids.
        let here = try await fixture.send(
            route, prefix: foreign == .default ? "" : "/t/\(foreign)", token: key)
        if route.contains("{") {
            let code =
                route.contains("merges")
                ? "MERGE_NOT_FOUND"
                : route.contains("event_id") ? "EVENT_NOT_FOUND" : "ACCOUNT_NOT_FOUND"
            #expect(here.summary == "404 \(code)", "\(here.body)")
        }
        for secret in [fixture.ada.userID, "ada@example.com"] {
            #expect(!here.body.contains(secret), "\(here.body)")
        }
        #expect(fixture.counts() == before)
        let lines = fixture.service.audit.access.accesses(of: foreign)
        #expect(lines.first?.outcome == "allowed" && lines.allSatisfy { !$0.action.isEmpty })
    }

    @Test(arguments: requests.keys.sorted(), Role.allCases)
    func `a session of a role is answered like an API key of the role`(
        route: String, role: Role
    ) async throws {
        let (byKey, bySession) = (try await Fixture(), try await Fixture())
        let before = bySession.counts()
        let key = try byKey.service.audit.key(role)
        let secret = try await bySession.service.staff.signIn([role: .all])
        let answers = [
            try await byKey.send(route, token: key),
            try await bySession.send(route, token: nil, fields: TestStaff.fields(of: secret)),
        ]
        #expect(answers[0].summary == answers[1].summary, "\(answers[1].body)")
        let lines = [byKey, bySession].map {
            $0.service.audit.access.accesses()[before[1]...].map {
                [$0.action, $0.outcome, $0.role, $0.reason, "\($0.isDisclosed)"]
            }
        }
        #expect(lines[0] == lines[1] && !lines[1].isEmpty)
        let principal = Principal(staff: StaffID(bits: 1), role: role)
        #expect(
            bySession.service.audit.access.accesses()[before[1]...].allSatisfy {
                $0.principal == principal.description
            })
        let added = [byKey, bySession].map { $0.service.ledger.recordings(of: .default) }
        #expect(added[0].count == added[1].count)
        for recording in added[1][before[0]...] {
            #expect(recording.recorded.actor == .principal(principal))
        }
    }

    @Test(arguments: requests.keys.sorted())
    func `a session without a role, or without its token, opens nothing`(
        route: String
    ) async throws {
        let acme = LedgerTestSupport.tenant("acme")
        let fixture = try await Fixture()
        let staff = fixture.service.staff
        let before = fixture.counts()
        let own = TestStaff.fields(of: try await staff.signIn([.admin: .all]))
        let other = TestStaff.fields(of: try await staff.signIn([.admin: .all], number: 2))
        let (cookie, token, site) = (own[0], own[1], own[2])
        let forged: [TestStaff.Fields] = [
            [cookie], [cookie, site], [cookie, other[1], site],
            [cookie, ("Ledger-CSRF", ""), site],
            [cookie, token, other[1], site], [cookie, token, ("Sec-Fetch-Site", "cross-site")],
            [cookie, token, ("Sec-Fetch-Site", "same-site")], [token, site],
            [("Cookie", "\(TestStaff.cookie)=x"), token, site],
            TestStaff.fields(of: try await staff.signIn([:])),
            TestStaff.fields(of: try await staff.signIn([.support: .all, .admin: .all])),
            TestStaff.fields(of: try await staff.signIn([.admin: .only([acme])])),
        ]
        for fields in forged {
            let answer = try await fixture.send(route, token: nil, fields: fields)
            #expect(answer.summary == "403 FORBIDDEN", "\(fields): \(answer.body)")
        }
        // With Authorization neither cookie nor token is looked at.
        let both = try await fixture.send(route, token: "x", fields: own)
        #expect(both.summary == "401 INVALID_API_KEY")
        #expect(fixture.counts() == before)
    }

    @Test(arguments: requests.keys.sorted())
    func `without a key nothing is shown, executed or recorded`(
        route: String
    ) async throws {
        let fixture = try await Fixture()
        let before = fixture.counts()
        for token in [nil, fixture.ada.accessToken] {
            let answer = try await fixture.send(route, token: token)
            #expect(answer.summary == "401 INVALID_API_KEY")
        }
        #expect(fixture.counts() == before)
    }
}
