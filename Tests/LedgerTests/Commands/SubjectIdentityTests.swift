import Ledger
import LedgerTestSupport
import Testing

/// Subjects are bytes: texts that look the same to a reader differ to a provider.
@Suite struct SubjectIdentityTests {
    private static let composed = subject("google", "caf\u{E9}")
    private static let decomposed = subject("google", "cafe\u{301}")

    @Test func `canonically equivalent subjects are two subjects`() {
        #expect("caf\u{E9}" == "cafe\u{301}", "to Swift the texts are equal")
        #expect(Self.composed != Self.decomposed)
        #expect(Set([Self.composed, Self.decomposed]).count == 2)
    }

    @Test func `canonically equivalent subjects open two accounts`() throws {
        var model = ModelLedger(
            policy: TenantPolicy(providers: Set(RandomCommands.providers)))
        let one = try model.signIn(Self.composed)
        let other = try model.signIn(Self.decomposed)
        #expect(one.account != other.account)
        #expect(try model.signIn(Self.composed).account == one.account)
    }
}
