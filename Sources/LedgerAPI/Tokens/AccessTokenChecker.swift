internal import Cryptography
internal import Ledger

/// Reads access tokens that this process does not know yet, with the keys of every process.
struct AccessTokenChecker: Sendable {
    let issuer: String
    let audience: String
    let keys: KeySet

    /// Why a token is none of ours.
    enum Failure: Error {
        /// It could be, of a key that is not among those at hand.
        case unknownKey
        case notOurs
    }

    /// The claims of a token of ours; its tenant and its times are not checked.
    ///
    /// - Throws: `Failure` unless it is one.
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

    /// Compares byte for byte; `==` also equates canonically equivalent texts.
    private func isExactly(_ value: JSONValue?, _ text: String) -> Bool {
        value?.string?.utf8.elementsEqual(text.utf8) ?? false
    }

    private func seconds(_ value: JSONValue?) -> Int64? {
        value?.number.flatMap { Int64(exactly: $0) }
    }
}
