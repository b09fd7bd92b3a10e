import Cryptography
import Encodings
import Ledger
import LedgerAPI
import Testing

struct RefreshTokensTests {
    private let session = SessionID(bits: 0x0123_4567_89AB_CDEF_0011_2233_4455_6677)

    @Test func `a token names its session in its tenant`() throws {
        let tokens = RefreshTokens(key: .generate())
        let token = tokens.issue(for: session, in: .default)
        #expect(token.count == 87)
        #expect(tokens.session(of: token, in: .default) == session)
        #expect(tokens.session(of: token, in: try #require(TenantID("defaul"))) == nil)
        #expect(RefreshTokens(key: .generate()).session(of: token, in: .default) == nil)
        #expect(tokens.issue(for: session, in: .default) != token)
    }

    @Test func `any changed bit is detected`() throws {
        let tokens = RefreshTokens(key: .generate())
        let bytes = try #require(
            Base64URL.decode(tokens.issue(for: session, in: .default)))
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0x10
            #expect(tokens.session(of: Base64URL.encode(changed), in: .default) == nil)
        }
        for text in ["", "=", Base64URL.encode(bytes + [0]), Base64URL.encode(Array(bytes[1...]))] {
            #expect(tokens.session(of: text, in: .default) == nil)
        }
    }

    @Test func `a sealed successor opens with the token before it and with no other`() {
        let tokens = RefreshTokens(key: .generate())
        let presented = tokens.issue(for: session, in: .default)
        let successor = tokens.issue(for: session, in: .default)
        let sealed = RefreshTokens.seal(successor, with: presented, in: .default)
        #expect(RefreshTokens.open(sealed, with: presented, in: .default) == successor)
        #expect(RefreshTokens.open(sealed, with: successor, in: .default) == nil)
        #expect(RefreshTokens.open(Array(sealed.dropLast()), with: presented, in: .default) == nil)
        // The stored digest must not contain the token.
        #expect(RefreshTokens.digest(presented) != RefreshTokens.digest(successor))
    }
}
