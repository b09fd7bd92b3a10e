package import Cryptography
internal import Encodings
internal import JSON
package import Ledger

/// The sessions of the pages for people, in encrypted cookies that scripts can't read.
///
/// A cookie names the session of the ledger, whose end counts at once, since every command and every read checks it. So
/// the browser has neither an access token nor a refresh token, and nothing is stored for a page.
package struct PageSessions: Sendable {
    /// The maximum time between a sign-in and the next one, in seconds.
    package static let seconds: Int64 = 43_200
    private static let tokenByteCount = 16

    let tokens: SealedTokens

    /// Uses the secret that all processes of the ledger share.
    package init(key secret: SymmetricKey) {
        tokens = SealedTokens(key: secret, label: "page-session")
    }

    /// A session of a page; before the sign-in, one without an account.
    package struct Session: Sendable {
        /// The account holder with the session of the ledger; nil before the sign-in.
        package let caller: Caller?
        /// The text that each request of the page repeats in a header field, which no other site can read.
        package let token: String
        /// The value of the cookie.
        package let cookie: String

        /// Checks whether a request repeats the token.
        package func permits(_ token: String) -> Bool {
            constantTimeEqual(Array(self.token.utf8), Array(token.utf8))
        }
    }

    /// Begins a session of a page, with a token of its own.
    package func begin(_ caller: Caller?, in tenant: TenantID, at now: Timestamp) -> Session {
        let token = Base64URL.encode(SecureRandom.bytes(Self.tokenByteCount))
        let cookie = tokens.seal(
            "session\0\(tenant)", in: tenant, until: now.adding(seconds: Self.seconds)
        ) { writer in
            writer.member("token", token)
            writer.member("account", caller?.account.description)
            writer.member("session", caller?.session.description)
        }
        return Session(caller: caller, token: token, cookie: cookie)
    }

    /// Returns the session of a cookie; nil unless it was begun for the tenant and has not expired.
    package func session(_ cookie: String, in tenant: TenantID, at now: Timestamp) -> Session? {
        guard
            let (members, _) = tokens.open(cookie, "session\0\(tenant)", in: tenant, at: now),
            let token = members["token"]?.string
        else { return nil }
        var caller: Caller?
        if let account = members["account"]?.string.flatMap({ AccountID($0) }),
            let session = members["session"]?.string.flatMap({ SessionID($0) })
        {
            caller = Caller(account: account, session: session)
        }
        return Session(caller: caller, token: token, cookie: cookie)
    }
}
