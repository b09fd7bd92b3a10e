import Ledger
import Testing

@testable import LedgerAPI

struct KnownTokensTests {
    private static let claims = AccessTokenClaims(
        caller: Caller(account: AccountID(bits: 1), session: SessionID(bits: 2)),
        tenant: .default, authenticatedAt: 0, issuedAt: 0, expiresAt: 600)

    @Test func `a token is known once it is remembered`() {
        let known = KnownTokens()
        #expect(known.claims(of: "a") == nil)
        known.remember(Self.claims, of: "a")
        #expect(known.claims(of: "a") == Self.claims)
        #expect(known.claims(of: "b") == nil)
    }

    @Test func `there are at most two generations, and used tokens stay`() {
        let countMax = 1600
        let known = KnownTokens(generationCountMax: countMax)
        known.remember(Self.claims, of: "used")
        known.remember(Self.claims, of: "unused")
        for index in 0..<4 * countMax {
            known.remember(Self.claims, of: "\(index)")
            if index.isMultiple(of: 100) { _ = known.claims(of: "used") }
        }
        #expect(known.claims(of: "used") != nil)
        #expect(known.claims(of: "unused") == nil)
        #expect(known.claims(of: "0") == nil)
    }

    @Test func `forty thousand tokens in use are all known`() {
        let known = KnownTokens()
        let count = 40_000
        for index in 0..<count { known.remember(Self.claims, of: "\(index)") }
        #expect((0..<count).allSatisfy { known.claims(of: "\($0)") != nil })
    }
}
