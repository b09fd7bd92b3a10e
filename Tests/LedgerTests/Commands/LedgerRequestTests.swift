import Ledger
import LedgerTestSupport
import Testing

/// The results that each request can have.
struct LedgerRequestTests {
    @Test func `a request takes the reply to its own command only`() {
        let providers = [provider("apple")]
        #expect(LinkProvider.success(in: .linked(providers)) == providers)
        #expect(LinkProvider.success(in: .unlinked(providers)) == nil)
        #expect(UnlinkProvider.success(in: .unlinked(providers)) == providers)
        #expect(UnlinkProvider.success(in: .linked(providers)) == nil)
        #expect(SignOut.success(in: .signedOut) != nil)
        #expect(SignOut.success(in: .holdLifted) == nil)
        #expect(LiftLegalHold.success(in: .holdLifted) != nil)
        #expect(LiftLegalHold.success(in: .signedOut) == nil)
        #expect(SetLegalHold.success(in: .holdSet(HoldID(bits: 1))) == HoldID(bits: 1))
    }

    @Test func `a merge that is not recorded has no result, and neither has its preview`() throws {
        var scenario = Scenario()
        let ada = try scenario.given.signIn(subject("apple", "ada"))
        _ = try scenario.given.signIn(subject("google", "bob"))
        let preview = MergeAccounts.Preview(
            authority: .accountHolder(ada, Credential(subject("google", "bob"), digest: .zero)),
            keepsAbsorbed: [], digest: sha256)
        let planned = try scenario.when(preview)
        #expect(planned.events.isEmpty)
        let reply = try planned.result.get()
        let plan = try #require(MergeAccounts.Preview.success(in: reply)).plan
        #expect(MergeAccounts.success(in: reply) == nil)
        #expect(MergeAccounts.success(in: .merged(plan, nil)) == nil)
        let event = EventID(bits: 3)
        #expect(MergeAccounts.success(in: .merged(plan, event))?.event == event)
        #expect(MergeAccounts.Preview.success(in: .merged(plan, event)) == nil)
    }
}
