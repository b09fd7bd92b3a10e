import Foundation
import LedgerClient
import LedgerTestSupport
import Testing

/// Passkeys at a real server, with keys in software.
@Suite(.timeLimit(.minutes(5))) @MainActor struct PasskeyTests {
    @Test func `passkeys sign up, sign in, are linked and named, and agree to a merge`()
        async throws
    {
        try await DevelopmentLedger.with { ledger in
            let phone = TestAuthenticator("phone", at: ledger)
            let app = try ledger.app()
            let made = try await app.makePasskey(.signUp, userName: "ada", with: phone)
            guard
                case .signedIn(let opened) = try await app.signIn(
                    at: "passkey", with: .passkey(made))
            else { throw LedgerError(.unexpectedAnswer, message: "a second step") }
            #expect(opened.isNewUser)
            try await app.signOut()
            let used = try await app.usePasskey(.signIn, with: phone)
            try await app.signIn(at: "passkey", with: .passkey(used))
            #expect(app.state.profile?.userID == opened.profile.userID)
            let again = try await refusal { () throws(LedgerError) in
                try await app.signIn(at: "passkey", with: .passkey(used))
            }
            #expect(again.code == .invalidProviderToken, "a challenge is answered once")

            let key = TestAuthenticator("key", at: ledger)
            let second = try await app.makePasskey(.link, with: key)
            let linked = try await app.link("passkey", with: .passkey(second))
            #expect(linked.identities.map(\.provider) == ["passkey", "passkey"])
            let known = try await refusal { () throws(LedgerError) in
                try await app.makePasskey(.link, with: key)
            }
            #expect(known.code == .authenticatorFailed)
            let closed = try await refusal { () throws(LedgerError) in
                try await app.usePasskey(.signIn, with: ClosedAuthenticator())
            }
            #expect(closed.code == .cancelledByPerson)
            let identity = try #require(linked.identities.last)
            let named = try await app.nameIdentity(identity.id, "Work key")
            #expect(named.identities.map(\.name) == [nil, "Work key"])
            let unplanned = try await refusal { () throws(LedgerError) in
                try await app.keepIdentity(identity.id)
            }
            #expect(unplanned.code == .providerNotLinked)
            try await ledger.plan(
                "identities/\(identity.id)/unlink", of: opened.profile.userID)
            #expect(try await app.reload().identities.last?.unlinkDue != nil)
            #expect(try await app.keepIdentity(identity.id) == named)

            let other = try ledger.app()
            try await other.signIn(at: "google", with: ledger.proof("google", "ada"))
            let shown = try await other.usePasskey(.mergePreview, with: phone)
            let plan = try await other.previewMerge(of: "passkey", with: .passkey(shown))
            #expect(plan.absorbedUserID == opened.profile.userID)
            let agreed = try await other.usePasskey(.merge(plan), with: phone)
            try await other.merge(plan, "passkey", with: .passkey(agreed))
            #expect(other.state.profile?.identities.count == 3)
        }
    }

    @Test func `a passkey is a second factor`() async throws {
        try await DevelopmentLedger.with { ledger in
            let key = TestAuthenticator("key", at: ledger, verifiesPerson: false)
            let app = try ledger.app()
            try await app.signIn(at: "google", with: ledger.proof("google", "ada"))
            let made = try await app.makePasskey(.secondFactor, with: key)
            let enrolled = try await app.enrolFactor(.passkey(made))
            #expect(enrolled.recoveryCodes.count == 10)
            #expect(try await app.factors().map(\.kind) == [.passkey, .recoveryCodes])

            let result = try await app.signIn(at: "google", with: ledger.proof("google", "ada"))
            guard case .needsSecondFactor(let challenge) = result,
                let factor = challenge.factors.first
            else {
                Issue.record("\(result)")
                return
            }
            let use = try await app.usePasskey(.secondFactor(factor), with: key)
            try await app.completeSecondFactor(factor, passkey: use)
            #expect(try await app.removeFactor(factor.id) == [])
            let gone = try await refusal { () throws(LedgerError) in
                try await app.removeFactor(factor.id)
            }
            #expect(gone.code == .factorNotFound)
        }
    }
}
