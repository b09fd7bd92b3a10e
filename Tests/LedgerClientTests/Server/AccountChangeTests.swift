import Foundation
import LedgerClient
import LedgerTestSupport
import Testing

/// Second factors, addresses and the recent activity of an account, at a real server.
@Suite(.timeLimit(.minutes(5))) @MainActor struct AccountChangeTests {
    private static let password = "correct horse battery staple"

    @Test func `an account with a second factor is merged by a person who is signed in to both`()
        async throws
    {
        try await DevelopmentLedger.with { ledger in
            let (app, other) = (try ledger.app(), try ledger.app())
            try await app.signIn(at: "apple", with: ledger.proof("apple", "ada"))
            let user = try #require(app.state.profile?.userID)
            try await other.signIn(at: "google", with: ledger.proof("google", "bob"))
            let secret = try await other.beginAuthenticatorApp()
            let authenticator = try #require(AuthenticatorApp(base32: secret.secret))
            let now = Int64(Date().timeIntervalSince1970)
            let enrolled = try await other.enrolFactor(
                .authenticatorApp(secret, code: authenticator.code(at: now)))
            let proof = try await ledger.proof("google", "bob")
            let alone = try await refusal { () throws(LedgerError) in
                try await app.previewMerge(of: "google", with: proof)
            }
            #expect(alone.code == .secondFactorEnrolled)
            let invalid = try await refusal { () throws(LedgerError) in
                try await app.previewMerge(ofAccountWith: "x")
            }
            #expect(invalid.code == .invalidProviderToken)

            let token = try await other.accessToken()
            let plan = try await app.previewMerge(ofAccountWith: token)
            #expect(plan.factors.map(\.id) == [enrolled.factorID])
            #expect(plan.factors.map(\.side) == [.absorbed])
            let merge = try await app.merge(plan, ofAccountWith: token)
            #expect(merge.userID == user && merge.absorbedUserID == plan.absorbedUserID)
            // The session began without a second factor.
            guard case .expired = app.state else {
                Issue.record("\(app.state)")
                return
            }
            let over = try await refusal { () throws(LedgerError) in try await other.reload() }
            #expect(over.code == .invalidRefreshToken)
            let result = try await app.signIn(at: "apple", with: ledger.proof("apple", "ada"))
            guard case .needsSecondFactor(let challenge) = result,
                let recovery = challenge.factors.first(where: { $0.kind == .recoveryCodes })
            else {
                Issue.record("\(result)")
                return
            }
            try await app.completeSecondFactor(recovery, code: enrolled.recoveryCodes[0])
            #expect(app.state.profile?.userID == user)
        }
    }

    @Test func `second factors are enrolled, listed and removed`() async throws {
        try await DevelopmentLedger.with { ledger in
            let app = try ledger.app()
            try await app.signIn(at: "google", with: ledger.proof("google", "ada"))
            let secret = try await app.beginAuthenticatorApp(issuer: "Example", accountName: "ada")
            #expect(secret.uri.hasPrefix("otpauth://totp/Example:ada?secret=\(secret.secret)"))
            let authenticator = try #require(AuthenticatorApp(base32: secret.secret))
            let now = Int64(Date().timeIntervalSince1970)
            let wrong = try await refusal { () throws(LedgerError) in
                try await app.enrolFactor(
                    .authenticatorApp(secret, code: authenticator.wrongCode(at: now)))
            }
            #expect(wrong.code == .invalidCode)
            let former = try await app.accessToken()
            let enrolled = try await app.enrolFactor(
                .authenticatorApp(secret, code: authenticator.code(at: now)))
            #expect(enrolled.recoveryCodes.count == 10)
            #expect(try await app.accessToken() != former, "the former sessions have ended")

            let phone = "+4915123456789"
            let sent = try await app.sendFactorCode(to: phone)
            let further = try await app.enrolFactor(.phone(sent, code: ledger.code(phone)))
            #expect(further.recoveryCodes.isEmpty)
            let factors = try await app.factors()
            #expect(factors.map(\.kind) == [.authenticatorApp, .recoveryCodes, .phone])
            #expect(factors.map(\.hint) == [nil, nil, "6789"])
            #expect(factors.map(\.codesLeft) == [nil, 10, nil])
            let codes = try await app.renewRecoveryCodes()
            #expect(codes.count == 10 && codes != enrolled.recoveryCodes)
            let unplanned = try await refusal { () throws(LedgerError) in
                try await app.keepFactor(further.factorID)
            }
            #expect(unplanned.code == .factorNotFound)
            try await ledger.plan(
                "factors/\(further.factorID)/removal", of: app.state.profile?.userID)
            #expect(try await app.factors().filter { $0.removalDue != nil }.count == 1)
            let kept = try await app.keepFactor(further.factorID)
            #expect(kept.count == 3 && kept.allSatisfy { $0.removalDue == nil })
            // The new codes were made after the phone.
            let others = try await app.removeFactor(enrolled.factorID)
            #expect(others.map(\.kind) == [.phone, .recoveryCodes])
            let activity = try await app.activity(limit: 1)
            #expect(activity.events.map(\.kind) == [.factorRemoved])
            #expect(activity.events.first?.factor == .authenticatorApp)

            let result = try await app.signIn(at: "google", with: ledger.proof("google", "ada"))
            guard case .needsSecondFactor(let challenge) = result,
                let recovery = challenge.factors.first(where: { $0.kind == .recoveryCodes })
            else {
                Issue.record("\(result)")
                return
            }
            try await app.completeSecondFactor(recovery, code: codes[9])
        }
    }

    @Test func `recovery codes need a session and a factor`() async throws {
        try await DevelopmentLedger.with { ledger in
            let app = try ledger.app()
            let absent = try await refusal { () throws(LedgerError) in try await app.factors() }
            #expect(absent.code == .noSession)
            try await app.signIn(at: "google", with: ledger.proof("google", "ada"))
            let none = try await refusal { () throws(LedgerError) in
                try await app.renewRecoveryCodes()
            }
            #expect(none.code == .factorRefused && none.details["reason"] == "no_factor")
            #expect(
                none.sentence(in: .english)
                    == "This account cannot have this second factor, or cannot do without it.")
        }
    }

    @Test func `an address is changed, and taken back`() async throws {
        try await DevelopmentLedger.with { ledger in
            let (former, newer) = ("ada@example.com", "ada@example.org")
            let app = try ledger.app()
            let first = try await app.sendCode(to: former, by: "email")
            try await app.signIn(at: "email", with: .code(first, ledger.code(former)))
            let user = app.state.profile?.userID
            #expect(try await app.reload().identities.map(\.email) == [former])
            let sent = try await app.sendAddressCode(to: newer, by: "email")
            let changed = try await app.changeAddress(
                from: former, sent, code: ledger.code(newer), at: "email")
            #expect(changed.profile.identities.map(\.email) == [newer])
            #expect(app.state.profile == changed.profile && changed.profile.userID == user)
            let soon = try await app.sendAddressCode(to: "ada@example.net", by: "email")
            let third = try await ledger.code("ada@example.net")
            let refused = try await refusal { () throws(LedgerError) in
                try await app.changeAddress(from: newer, soon, code: third, at: "email")
            }
            #expect(refused.code == .rateLimited && refused.retryAfter ?? .zero > .seconds(600_000))

            let page = try await app.activity(limit: 2)
            #expect(page.events.map(\.kind) == [.signedIn, .addressChanged])
            #expect(page.events.first?.isCurrentSession == true && page.events.last?.by == .holder)
            let rest = try await app.activity(before: page.next)
            #expect(rest.events.last?.kind == .opened && rest.next == nil)

            let owner = try ledger.app()
            let back = try await owner.sendAddressReturn(to: former, by: "email")
            let code = try await ledger.code(former, number: 2)
            let providers = try await owner.returnAddress(
                back, code: code, password: Self.password, at: "email")
            #expect(providers == ["email"])
            let over = try await refusal { () throws(LedgerError) in try await app.reload() }
            #expect(over.code == .invalidRefreshToken)
            let again = try await owner.sendCode(to: former, by: "email")
            try await owner.signIn(
                at: "email", with: .code(again, ledger.code(former, number: 3)))
            #expect(owner.state.profile?.userID == user)
        }
    }
}
