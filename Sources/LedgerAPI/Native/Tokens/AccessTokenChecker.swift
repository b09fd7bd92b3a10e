internal import Cryptography
internal import JSON
internal import Ledger

/// Checks access tokens that this process has not cached, with the keys of every process.
struct AccessTokenChecker: Sendable {
    let issuer: String
    let audience: String
    let keys: KeySet

    /// The reasons to refuse a token.
    enum Failure: Error {
        /// Its key is not among the known ones; another process may have issued it.
        case unknownKey
        case notOurs
    }

    /// Returns the claims of a token that this ledger issued; its tenant and its times are not
    /// checked.
    ///
    /// - Throws: `Failure` for any other token.
    func claims(of token: String) throws(Failure) -> AccessTokenClaims {
        var isKeyUnknown = false
        let verified = CompactJWS.verify(token, allowing: [.es256]) { header in
            guard header.typ == AccessTokens.type, let keyID = header.kid else { return nil }
            let key = keys.key(id: keyID, for: .es256)
            isKeyUnknown = key == nil
            return key
        }
        guard !isKeyUnknown else { throw .unknownKey }
        guard let payload = verified,
            let members = JSONValue(parsing: payload)?.members,
            isExactly(members["iss"], issuer), isExactly(members["aud"], audience),
            let account = members["sub"]?.string.flatMap({ AccountID($0) }),
            let session = members["sid"]?.string.flatMap({ SessionID($0) }),
            let tenant = members["tid"]?.string.flatMap(TenantID.init),
            let issuedAt = seconds(members["iat"]), let expiresAt = seconds(members["exp"]),
            let authenticatedAt = seconds(members["auth_time"])
        else { throw .notOurs }
        return AccessTokenClaims(
            caller: Caller(account: account, session: session), tenant: tenant,
            authenticatedAt: authenticatedAt, issuedAt: issuedAt, expiresAt: expiresAt)
    }

    /// Compares byte by byte; `==` also equates canonically equivalent strings.
    private func isExactly(_ value: JSONValue?, _ text: String) -> Bool {
        value?.string?.utf8.elementsEqual(text.utf8) ?? false
    }

    private func seconds(_ value: JSONValue?) -> Int64? {
        value?.number.flatMap { Int64(exactly: $0) }
    }
}
