import Foundation
import LedgerClient
import LedgerTestSupport
import Testing

/// The ways to sign in, to link and to merge, at a real server.
@Suite(.timeLimit(.minutes(5))) @MainActor struct StoryTests {
    @Test func `a conflict ends in a merge that the person has seen`() async throws {
        try await DevelopmentLedger.with { ledger in
            try await ledger.app().signIn(at: "google", with: ledger.proof("google", "bob"))
            let app = try ledger.app()
            let result = try await app.signIn(at: "apple", with: ledger.proof("apple", "ada"))
            guard case .signedIn(let signIn) = result else {
                Issue.record("\(result)")
                return
            }
            #expect(signIn.isNewUser && app.state == .signedIn(signIn.profile))
            let proof = try await ledger.proof("google", "bob")
            let conflict = try await refusal { () throws(LedgerError) in
                try await app.link("google", with: proof)
            }
            #expect(conflict.code == .providerConflict && conflict.status == 409)
            #expect(conflict.requestID != nil)
            let plan = try await app.previewMerge(of: "google", with: proof)
            #expect(plan.kept.map(\.provider) == ["apple"])
            #expect(plan.moved.map(\.provider) == ["google"])
            #expect(plan.leftBehind.isEmpty && plan.choices.isEmpty && plan.expiresIn == 900)
            let old = try await refusal { () throws(LedgerError) in
                try await app.merge(plan, "google", with: proof)
            }
            #expect(old.code == .invalidProviderToken, "it is older than the plan")
            let merge = try await app.merge(
                plan, "google", with: ledger.proof("google", "bob", nonce: plan.digest))
            #expect(merge.userID == signIn.profile.userID)
            #expect(merge.absorbedUserID == plan.absorbedUserID)
            #expect(app.state.profile?.linkedProviders == ["google", "apple"])
            #expect(app.state.profile?.identities.map(\.provider) == ["google", "apple"])
        }
    }

    @Test func `an unlink of the identity of the session ends it, and counts`() async throws {
        try await DevelopmentLedger.with { ledger in
            let app = try ledger.app()
            try await app.signIn(at: "apple", with: ledger.proof("apple", "ada"))
            try await app.link("google", with: ledger.proof("google", "ada"))
            let left = try await app.unlink("apple")
            #expect(left.linkedProviders == ["google"])
            #expect(left.identities.map(\.provider) == ["google"])
            guard case .expired(let ended) = app.state else {
                Issue.record("\(app.state)")
                return
            }
            #expect(ended.profile.userID == left.userID)
            try await app.signIn(at: "google", with: ledger.proof("google", "ada"))
            #expect(app.state.profile?.userID == left.userID)
        }
    }

    @Test func `an anonymous account is upgraded, or merged by its secret`() async throws {
        try await DevelopmentLedger.with { ledger in
            let app = try ledger.app()
            try await app.signIn(at: "anonymous", with: .anonymous())
            let user = try #require(app.state.profile?.userID)
            #expect(try await app.anonymousSecret() != nil)
            try await app.link("google", with: ledger.proof("google", "ada"))
            #expect(app.state.profile?.userID == user)
            #expect(app.state.profile?.linkedProviders == ["google"])
            #expect(try await app.anonymousSecret() == nil)

            // On another device, the identity turns out to have an account.
            let other = try ledger.app()
            try await other.signIn(at: "anonymous", with: .anonymous())
            try await other.refresh()
            let secret = try #require(try await other.anonymousSecret())
            let proof = try await ledger.proof("google", "ada")
            let conflict = try await refusal { () throws(LedgerError) in
                try await other.link("google", with: proof)
            }
            #expect(conflict.code == .providerConflict)
            try await other.signIn(at: "google", with: proof)
            #expect(other.state.profile?.userID == user)
            let plan = try await other.previewMerge(
                of: "anonymous", with: .anonymous(secret: secret))
            try await other.merge(plan, "anonymous", with: .anonymous(secret: secret))
            #expect(other.state.profile?.linkedProviders == ["google"])
        }
    }

    @Test func `codes and passwords sign up, sign in and are replaced`() async throws {
        try await DevelopmentLedger.with { ledger in
            let (email, password) = ("ada@example.com", "correct horse battery staple")
            let store = InMemoryTokenStore()
            let app = try ledger.app(store: store)
            let weak = try await refusal { () throws(LedgerError) in
                try await app.signUp(email: email, password: "short")
            }
            #expect(weak.code == .weakPassword)
            #expect(
                weak.sentence(in: .english) == "The password must have at least 8 characters.")
            let sent = try #require(try await app.signUp(email: email, password: password).sent)
            try await app.signIn(at: "password", with: .code(sent, ledger.code(email)))
            let user = app.state.profile?.userID
            #expect(user != nil)
            #expect(await store.load()?.deviceToken != nil)
            try await app.signOut()

            let wrong = try await refusal { () throws(LedgerError) in
                try await app.signIn(
                    at: "password", with: .password(email: email, password: "wrong password"))
            }
            #expect(wrong.code == .invalidPassword)
            await store.save(nil)
            let reset = try await app.sendPasswordReset(email: email)
            let newer = "another horse battery staple"
            #expect(
                try await app.resetPassword(
                    reset, code: ledger.code(email, number: 2), password: newer) == [
                        "password"
                    ])
            #expect(await store.load()?.deviceToken != nil)
            try await app.signIn(at: "password", with: .password(email: email, password: newer))
            let former = try await app.accessToken()
            let device = await store.load()?.deviceToken
            try await app.changePassword(to: password, current: (email, newer))
            #expect(await store.load()?.deviceToken != device)
            #expect(try await app.accessToken() != former && app.state.profile?.userID == user)

            let code = try await app.sendLinkCode(to: "ada2@example.com", by: "email")
            let linked = try await app.link(
                "email", with: .code(code, ledger.code("ada2@example.com")))
            #expect(linked.linkedProviders == ["password", "email"])
            try await app.signOut(everywhere: true)
            let again = try await app.sendCode(to: "ada2@example.com", by: "email")
            try await app.signIn(
                at: "email", with: .code(again, ledger.code("ada2@example.com", number: 2)))
            #expect(app.state.profile?.userID == user)
        }
    }

    @Test func `a second factor completes a sign-in`() async throws {
        try await DevelopmentLedger.with { ledger in
            let app = try ledger.app()
            try await app.signIn(at: "apple", with: ledger.proof("apple", "ada"))
            let user = app.state.profile?.userID
            let other = try ledger.app()
            try await other.signIn(at: "apple", with: ledger.proof("apple", "ada"))
            let secret = try await other.beginAuthenticatorApp()
            let authenticator = try #require(AuthenticatorApp(base32: secret.secret))
            let now = Int64(Date().timeIntervalSince1970)
            let enrolled = try await other.enrolFactor(
                .authenticatorApp(secret, code: authenticator.code(at: now)))
            let codes = enrolled.recoveryCodes

            // The first factor has ended the session.
            let over = try await refusal { () throws(LedgerError) in try await app.reload() }
            #expect(over.code == .invalidRefreshToken)
            guard case .expired = app.state else {
                Issue.record("\(app.state)")
                return
            }
            let result = try await app.signIn(at: "apple", with: ledger.proof("apple", "ada"))
            guard case .needsSecondFactor(let challenge) = result else {
                Issue.record("\(result)")
                return
            }
            #expect(app.state == .needsSecondFactor(challenge))
            let kinds = challenge.factors.map(\.kind)
            #expect(kinds == [.authenticatorApp, .recoveryCodes])
            let app2 = try #require(challenge.factors.first)
            let wrong = try await refusal { () throws(LedgerError) in
                try await app.completeSecondFactor(app2, code: authenticator.wrongCode(at: now))
            }
            #expect(wrong.code == .invalidCode)
            let recovery = try #require(challenge.factors.last)
            let signIn = try await app.completeSecondFactor(recovery, code: codes[0])
            #expect(signIn.profile.userID == user && app.state.profile?.userID == user)
        }
    }

    @Test func `browser flows sign in, link and agree to a merge`() async throws {
        try await DevelopmentLedger.with { ledger in
            let address = try #require(URL(string: "http://127.0.0.1:3000/callback"))
            func browser(_ provider: String, _ name: String?) -> TestBrowser {
                TestBrowser(
                    returnAddress: address, client: ledger.server.client, provider: provider,
                    name: name)
            }
            let providers = try await ledger.app().providers()
            #expect(providers.filter(\.hasFlow).map(\.name).contains("x"))
            #expect(providers.first { $0.name == "email" }?.kind == .email)

            try await ledger.app().signInInBrowser(at: "github", with: browser("github", "bob"))
            let app = try ledger.app()
            try await app.signInInBrowser(at: "x", with: browser("x", "ada"))
            #expect(app.state.profile?.linkedProviders == ["x"])
            let cancelled = try await refusal { () throws(LedgerError) in
                try await app.signInInBrowser(at: "google", with: browser("google", nil))
            }
            #expect(cancelled.code == .cancelledByPerson)

            let google = try await app.prove(.link, at: "google", with: browser("google", "ada"))
            try await app.link("google", with: google)
            let github = try await app.prove(.link, at: "github", with: browser("github", "bob"))
            let conflict = try await refusal { () throws(LedgerError) in
                try await app.link("github", with: github)
            }
            #expect(conflict.code == .providerConflict)
            let plan = try await app.previewMerge(of: "github", with: github)
            let agreement = try await app.prove(
                .merge(plan), at: "github", with: browser("github", "bob"))
            try await app.merge(plan, "github", with: agreement)
            #expect(app.state.profile?.linkedProviders == ["github", "x", "google"])

            let elsewhere = TestBrowser(
                returnAddress: try #require(URL(string: "https://evil.example/")),
                client: ledger.server.client, provider: "x", name: "ada")
            let refused = try await refusal { () throws(LedgerError) in
                try await app.prove(.signIn, at: "x", with: elsewhere)
            }
            #expect(refused.code == .invalidRequest)
        }
    }
}
