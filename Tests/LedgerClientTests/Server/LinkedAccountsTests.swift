import Foundation
import LedgerClient
import LedgerTestSupport
import LinkedAccounts
import Testing

/// The model of the example's screen, at a real server with a browser that signs in.
@Suite(.timeLimit(.minutes(5))) @MainActor struct LinkedAccountsTests {
    private func row(_ name: String, _ model: LinkedAccountsModel) throws -> LinkedAccountsModel.Row
    {
        try #require(model.rows.first { $0.id == name })
    }

    @Test func `the screen links, unlinks, and combines two accounts`() async throws {
        try await DevelopmentLedger.with { ledger in
            let address = try #require(URL(string: "http://127.0.0.1:3000/callback"))
            func browser(_ provider: String, _ name: String?) -> TestBrowser {
                TestBrowser(
                    returnAddress: address, client: ledger.server.client, provider: provider,
                    name: name)
            }
            let session = try ledger.app()
            try await session.signIn(at: "apple", with: ledger.proof("apple", "ada"))
            let google = LinkedAccountsModel(
                session, browser: browser("google", "ada"), language: .english)
            await google.load()
            #expect(google.rows.map(\.id) == google.rows.map(\.id).sorted())
            #expect(try row("apple", google).isLinked && !row("apple", google).canUnlink)
            #expect(try !row("google", google).isLinked)

            await google.link(try row("google", google))
            #expect(google.failure == nil && google.question == nil)
            #expect(try row("google", google).isLinked && row("apple", google).canUnlink)

            // Another account has this identity.
            try await ledger.app().signInInBrowser(at: "github", with: browser("github", "bob"))
            let github = LinkedAccountsModel(
                session, browser: browser("github", "bob"), language: .english)
            await github.load()
            await github.link(try row("github", github))
            guard case .merge(let plan, let provider) = github.question else {
                Issue.record("\(github.question as Any) \(github.failure ?? "")")
                return
            }
            #expect(plan.linkedProviders == ["apple", "google", "github"])
            await github.merge(plan, provider: provider)
            #expect(github.question == nil && github.failure == nil)
            #expect(try row("github", github).isLinked)

            let identity = try #require(try row("google", github).identities.first)
            await github.unlink(identity)
            #expect(try !row("google", github).isLinked && github.failure == nil)
            await github.unlink(identity)
            #expect(github.failure == "This is no longer linked." && github.failedRequest != nil)

            let cancelling = LinkedAccountsModel(
                session, browser: browser("google", nil), language: .german)
            await cancelling.load()
            await cancelling.link(try row("google", cancelling))
            #expect(cancelling.failure == nil && !cancelling.isBusy)
            await cancelling.signOut()
            #expect(session.state == .signedOut && cancelling.rows.allSatisfy { !$0.isLinked })
        }
    }
}
