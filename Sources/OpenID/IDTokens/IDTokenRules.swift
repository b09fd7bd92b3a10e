internal import Cryptography
import Encodings
import JSON

/// The rules for the claims of a token with a valid signature.
struct IDTokenRules {
    /// Longest accepted subject, OpenID Connect Core section 2.
    static let subjectBytesMax = 255

    /// Longest e-mail address kept: 64 bytes, the at sign and 255 bytes, RFC 5321 section 4.5.3.1.
    static let emailBytesMax = 320

    /// Longest display name kept.
    static let nameBytesMax = 200

    /// The last second of the year 9999; later times are invalid and would overflow sums.
    private static let secondsMax = 253_402_300_799.0

    let policy: IDTokenPolicy
    let claims: JSONMembers
    /// The issuer that the signing key is for, if its JWK names one.
    let keyIssuer: String?
    let now: Int64

    /// Applies every rule in order and returns the claims to keep.
    func checked(nonce: String?) throws(IDTokenFault) -> IDTokenClaims {
        let issuer = try checkedIssuer()
        try checkAudience()
        let (issuedAt, expiresAt) = try checkedTimes()
        let authTime = try seconds("auth_time")
        try checkNonce(sent: nonce)
        return IDTokenClaims(
            issuer: issuer,
            subject: try checkedSubject(),
            email: text("email", bytesMax: IDTokenRules.emailBytesMax),
            emailVerified: isEmailVerified,
            name: text("name", bytesMax: IDTokenRules.nameBytesMax),
            issuedAt: Int64(issuedAt),
            expiresAt: Int64(expiresAt),
            authTime: authTime.map { seconds in Int64(seconds) },
            members: claims)
    }

    private func checkedIssuer() throws(IDTokenFault) -> String {
        guard let issuer = claims["iss"]?.string else { throw .wrongIssuer }
        switch policy.subject {
        case .sub:
            guard isAny(of: policy.issuers, issuer) else { throw .wrongIssuer }
        case .tenantAndObject(let tenants):
            guard let tenant = guid("tid"), tenants?.contains(tenant) ?? true,
                isAny(of: policy.issuers.map { SubjectForm.issuer($0, of: tenant) }, issuer)
            else { throw .wrongIssuer }
            // A key of one tenant must not sign for another one.
            guard keyIssuer.map({ SubjectForm.issuer($0, of: tenant).isExactly(issuer) }) ?? true
            else { throw .unknownKey }
        }
        return issuer
    }

    private func checkAudience() throws(IDTokenFault) {
        let audiences: [String]
        switch claims["aud"] {
        case .string(let audience):
            audiences = [audience]
        case .array(let elements):
            audiences = elements.compactMap(\.string)
            guard audiences.count == elements.count else {
                throw .wrongAudience
            }
        default:
            throw .wrongAudience
        }
        guard audiences.contains(where: { isAny(of: policy.audiences, $0) }) else {
            throw .wrongAudience
        }
        // With a single audience `azp` is ignored: Google's Android SDK names the app there.
        guard audiences.count > 1 else {
            return
        }
        guard let party = claims["azp"]?.string, isAny(of: policy.audiences, party) else {
            throw .wrongAuthorizedParty
        }
    }

    private func checkedTimes() throws(IDTokenFault) -> (issuedAt: Double, expiresAt: Double) {
        let earliest = Double(now - policy.leewaySeconds)
        let latest = Double(now + policy.leewaySeconds)
        guard let expiresAt = try seconds("exp") else {
            throw .missingExpiry
        }
        guard earliest < expiresAt else {
            throw .expired
        }
        if let notBefore = try seconds("nbf"), latest < notBefore {
            throw .notYetValid
        }
        guard let issuedAt = try seconds("iat") else {
            throw .missingIssuedAt
        }
        guard issuedAt <= latest else {
            throw .issuedInFuture
        }
        return (issuedAt, expiresAt)
    }

    private func checkNonce(sent: String?) throws(IDTokenFault) {
        guard policy.nonce != .none else {
            return
        }
        let carried = claims.present("nonce")
        guard let sent, !sent.isEmpty else {
            if policy.nonceRequired {
                throw .nonceMissing
            }
            guard carried == nil else {
                throw .nonceMismatch
            }
            return
        }
        var expected = Array(sent.utf8)
        if policy.nonce == .sha256 {
            expected = Array(Hex.encode(SHA256.hash(expected)).utf8)
        }
        guard
            let carried = carried?.string, constantTimeEqual(Array(carried.utf8), expected)
        else {
            throw .nonceMismatch
        }
    }

    private func checkedSubject() throws(IDTokenFault) -> String {
        switch policy.subject {
        case .sub:
            guard let subject = text("sub", bytesMax: IDTokenRules.subjectBytesMax) else {
                throw .badSubject
            }
            return subject
        case .tenantAndObject:
            guard let tenant = guid("tid"), let object = guid("oid") else { throw .badSubject }
            return "\(tenant)/\(object)"
        }
    }

    /// Whether the provider states that the address is verified; nil without a statement.
    ///
    /// An administrator of a tenant of Microsoft gives people any address, of any domain. `xms_edov` states
    /// that the owner of the domain was verified, as a Boolean or as `1`.
    private var isEmailVerified: Bool? {
        switch policy.subject {
        case .sub: truth("email_verified")
        case .tenantAndObject:
            truth("xms_edov") ?? [.string("1"), .number(1)].contains(claims["xms_edov"])
        }
    }

    private func guid(_ name: String) -> String? {
        claims[name]?.string.flatMap { SubjectForm.isGUID($0) ? $0 : nil }
    }

    private func isAny(of accepted: [String], _ text: String) -> Bool {
        accepted.contains { candidate in candidate.isExactly(text) }
    }

    /// Reads a time in seconds since 1970; nil when it is missing.
    private func seconds(_ name: String) throws(IDTokenFault) -> Double? {
        guard let value = claims.present(name) else {
            return nil
        }
        guard
            let seconds = value.number, seconds >= 0, seconds <= IDTokenRules.secondsMax
        else {
            throw .malformed
        }
        return seconds
    }

    /// Reads a text; nil when it is missing, not a string, empty, too long or has control characters.
    private func text(_ name: String, bytesMax: Int) -> String? {
        guard
            let text = claims[name]?.string, !text.isEmpty, text.utf8.count <= bytesMax,
            !text.hasControlCharacter
        else {
            return nil
        }
        return text
    }

    /// Reads a boolean, which Apple writes as a string.
    private func truth(_ name: String) -> Bool? {
        switch claims[name] {
        case .bool(let truth): truth
        case .string("true"): true
        case .string("false"): false
        default: nil
        }
    }
}

extension String {
    /// Whether the text can be the e-mail that a provider states: at most 320 bytes without control characters.
    package var isStatableEmail: Bool {
        (1...IDTokenRules.emailBytesMax).contains(utf8.count) && !hasControlCharacter
    }

    /// Whether the text has a control character: U+0000 to U+001F or U+007F to U+009F, the general
    /// category Cc.
    ///
    /// The last 32 of them are the only characters with the UTF-8 bytes 0xC2 and 0x80 to 0x9F.
    var hasControlCharacter: Bool {
        var previous: UInt8 = 0
        for byte in utf8 {
            if byte < 0x20 || byte == 0x7F || (previous == 0xC2 && (0x80...0x9F).contains(byte)) {
                return true
            }
            previous = byte
        }
        return false
    }
}
