import LedgerTestSupport
import Testing

@testable import Ledger

/// Changes of access by support: disabling, enabling, and the end of all sessions.
struct AccessTests {
    private static let unknown = AccountID(bits: 1)

    private func change(
        _ change: ChangeAccess.Change, _ account: AccountID
    ) -> ChangeAccess {
        ChangeAccess(
            change, of: account, actor: .system, reason: "stolen phone", caseReference: "6")
    }

    private func plan(_ account: AccountID, isDisabled: Bool = false) -> ChangeAccess.Plan? {
        ChangeAccess.Plan(
            account: account, isDisabled: isDisabled, covers: [account],
            linkedProviders: [provider("apple")])
    }

    private func signIn(_ subject: Subject) -> SignIn {
        SignIn(
            proof(subject), createAccount: true, refreshToken: .zero,
            newAccount: AccountID(bits: 90), newIdentity: IdentityID(bits: 91),
            newSession: SessionID(bits: 92))
    }

    private func merge(_ absorbed: AccountID, into survivor: AccountID) -> MergeAccounts.Preview {
        MergeAccounts.Preview(
            authority: .support(
                .system,
                MergeAccounts.Case(
                    survivor: survivor, absorbed: absorbed, reason: "r", reference: "c")),
            keepsAbsorbed: [], digest: sha256)
    }

    @Test func `a disabled account has no sessions and no sign-in until it is enabled`() throws {
        var scenario = Scenario()
        let subject = subject("apple", "ada")
        let ada = try scenario.given.signIn(subject)
        let shown = try #require(plan(ada.account))
        let wasDisabled = try #require(plan(ada.account, isDisabled: true))
        let done = try scenario.when(change(.disable, ada.account))
        #expect(done.events == [.accountDisabled(AccountDisabled(account: ada.account))])
        #expect(ChangeAccess.success(in: try done.result.get())?.plan == shown)
        #expect(try scenario.when(SignOut(caller: ada, scope: .session)) == refused(.sessionEnded))
        #expect(try scenario.when(signIn(subject)) == refused(.accountDisabled))
        #expect(
            try scenario.when(change(.disable, ada.account))
                == then(.accessUnchanged(wasDisabled)))
        #expect(
            try scenario.when(change(.endSessions, ada.account))
                == then(.accessUnchanged(wasDisabled)))
        let enabled = try scenario.when(change(.enable, ada.account))
        #expect(enabled.events == [.accountEnabled(AccountEnabled(account: ada.account))])
        #expect(
            try scenario.when(change(.enable, ada.account)) == then(.accessUnchanged(shown)))
        #expect(try scenario.when(signIn(subject)).events.count == 1)
    }

    @Test func `the end of all sessions leaves sign-ins possible`() throws {
        var scenario = Scenario()
        let subject = subject("apple", "ada")
        let ada = try scenario.given.signIn(subject)
        let ended = try scenario.when(change(.endSessions, ada.account))
        #expect(ended.events == [.sessionsEnded(SessionsEnded(account: ada.account))])
        #expect(try scenario.when(SignOut(caller: ada, scope: .session)) == refused(.sessionEnded))
        #expect(try scenario.when(signIn(subject)).events.count == 1)
    }

    @Test func `a disabled account is neither merged nor linked again, and can be erased`()
        throws
    {
        var scenario = Scenario()
        let ada = try scenario.given.signIn(subject("apple", "ada"))
        let bob = try scenario.given.signIn(subject("google", "bob")).account
        _ = try scenario.when(change(.disable, ada.account))
        #expect(try scenario.when(merge(ada.account, into: bob)) == refused(.accountDisabled))
        #expect(try scenario.when(merge(bob, into: ada.account)) == refused(.accountDisabled))
        let relink = RelinkProvider.Preview(
            account: ada.account, identity: IdentityID(bits: 7), former: nil, actor: .system)
        #expect(try scenario.when(relink) == refused(.accountDisabled))
        let hold = SetLegalHold(account: ada.account, newHold: HoldID(bits: 5), actor: .system)
        #expect(try scenario.when(hold).events.count == 1)
        _ = try scenario.when(
            LiftLegalHold(account: ada.account, hold: HoldID(bits: 5), actor: .system))
        let erasure = EraseAccount(account: ada.account, basis: .operator, actor: .system)
        #expect(try scenario.when(erasure).events.count == 1)
        #expect(try scenario.when(change(.enable, ada.account)) == refused(.accountErased))
    }

    @Test func `a merge cannot be undone while its survivor is disabled`() throws {
        var scenario = Scenario()
        let ada = try scenario.given.signIn(subject("apple", "ada")).account
        let bob = try scenario.given.signIn(subject("google", "bob")).account
        let preview = try scenario.when(merge(bob, into: ada))
        let planned = try #require(MergeAccounts.Preview.success(in: try preview.result.get()))
        let merged = try scenario.when(
            MergeAccounts(
                authority: .support(
                    .system,
                    MergeAccounts.Case(survivor: ada, absorbed: bob, reason: "r", reference: "c")),
                keepsAbsorbed: [], agreed: planned.digest, digest: sha256))
        let event = try #require(MergeAccounts.success(in: try merged.result.get())?.done).event
        #expect(try scenario.when(change(.disable, bob)) == refused(.accountMerged(into: ada)))
        let shown = try scenario.when(ChangeAccess.Preview(.disable, of: ada, actor: .system))
        #expect(ChangeAccess.Preview.success(in: try shown.result.get())?.covers == [bob, ada])
        _ = try scenario.when(change(.disable, ada))
        let undo = UnmergeAccounts.Preview(
            merge: event, survivor: ada, absorbed: bob, actor: .system)
        #expect(try scenario.when(undo) == refused(.accountDisabled))
    }

    @Test func `an unknown account has no access to change`() throws {
        var scenario = Scenario()
        for kind in ChangeAccess.Change.allCases {
            #expect(try scenario.when(change(kind, Self.unknown)) == refused(.unknownAccount))
        }
    }
}
