import Cryptography
import Ledger
import LedgerTestSupport
import Testing

@testable import LedgerSignIn

/// The sessions and flows of pages in their cookies.
struct PageSessionTests {
    private static let now = Timestamp(seconds: 1_790_000_000)
    private static let caller = Caller(account: AccountID(bits: 1), session: SessionID(bits: 2))

    private let pages = PageSessions(key: .generate())

    private func tenant(_ name: String) throws -> TenantID { try #require(TenantID(name)) }

    @Test func `a session is that of its cookie, tenant and key, for twelve hours`() throws {
        let begun = pages.begin(Self.caller, in: .default, at: Self.now)
        let last = Self.now.adding(seconds: 43_199)
        let read = try #require(pages.session(begun.cookie, in: .default, at: last))
        #expect(read.caller == Self.caller && read.token == begun.token)
        #expect(pages.session(begun.cookie, in: .default, at: last.adding(seconds: 1)) == nil)
        #expect(pages.session(begun.cookie, in: try tenant("acme"), at: Self.now) == nil)
        #expect(pages.session(begun.cookie + "A", in: .default, at: Self.now) == nil)
        let other = PageSessions(key: .generate())
        #expect(other.session(begun.cookie, in: .default, at: Self.now) == nil)
        let before = pages.begin(nil, in: .default, at: Self.now)
        #expect(pages.session(before.cookie, in: .default, at: Self.now)?.caller == nil)
    }

    @Test func `a session permits requests with its own token`() {
        let (one, two) = (
            pages.begin(Self.caller, in: .default, at: Self.now),
            pages.begin(Self.caller, in: .default, at: Self.now)
        )
        #expect(one.permits(one.token) && !one.permits(two.token) && !one.permits(""))
    }

    @Test func `a cookie shows neither the account nor the session of the ledger`() {
        let begun = pages.begin(Self.caller, in: .default, at: Self.now)
        #expect(!begun.cookie.contains(Self.caller.account.description))
        #expect(!begun.cookie.contains(begun.token))
    }

    @Test func `a flow keeps its verifier, and gets its result`() throws {
        let flow = pages.flow(at: provider("google"), for: "link")
        let cookie = pages.cookie(of: flow, in: .default, at: Self.now)
        let read = try #require(pages.flow(cookie, in: .default, at: Self.now))
        #expect(read.challenge == flow.challenge && read.purpose == "link" && read.body == nil)
        #expect(pages.flow(cookie, in: try tenant("acme"), at: Self.now) == nil)
        // A session is no flow, nor the other way round.
        #expect(pages.session(cookie, in: .default, at: Self.now) == nil)
        let ended = pages.ended(read, code: "c0de", error: nil)
        let result = pages.cookie(of: ended, in: .default, at: Self.now)
        let back = try #require(pages.flow(result, in: .default, at: Self.now))
        #expect(back.body?.code == "c0de" && back.body?.challenge == flow.challenge)
        #expect(back.error == nil)
        #expect(pages.flow(result, in: .default, at: Self.now.adding(seconds: 60)) == nil)
    }

    @Test(arguments: [
        (nil, "access_denied", "access_denied"), (nil, "<script>", "invalid_request"),
        (nil, nil, "invalid_request"),
        (String(repeating: "c", count: 3_000), nil, "invalid_request"),
    ])
    func `a flow without a code has a known error`(
        code: String?, error: String?, expected: String
    ) {
        let flow = pages.flow(at: provider("google"), for: "sign_in")
        let ended = pages.ended(flow, code: code, error: error)
        #expect(ended.error == expected && ended.body == nil)
    }
}
