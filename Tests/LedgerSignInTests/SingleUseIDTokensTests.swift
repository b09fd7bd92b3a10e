import Cryptography
import Ledger
import LedgerTestSupport
import Testing

@testable import LedgerSignIn

/// The digests of ID tokens that may open one session only.
struct SingleUseIDTokensTests {
    @Test func `a token has another digest in each tenant and by each key`() throws {
        func digest(_ token: String, key: UInt8 = 1, in tenant: TenantID = .default) throws
            -> Digest?
        {
            let key = try #require(SymmetricKey(bytes: Array(repeating: key, count: 32)))
            return SingleUseIDTokens(key: key)
                .token(token, acceptedUntil: Timestamp(seconds: 1), in: tenant)?.digest
        }
        let usual = try digest("h.p.s")
        let again = try digest("h.p.t")
        #expect(usual != nil && usual == again, "whatever its signature")
        let others = [
            try digest("h.q.s"), try digest("h.p.s", key: 2),
            try digest("h.p.s", in: tenant("acme")),
        ]
        #expect(!others.contains(usual) && !others.contains(nil))
        #expect(try digest("hps") == nil)
    }
}
