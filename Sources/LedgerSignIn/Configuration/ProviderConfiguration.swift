package import Ledger
package import OpenID

/// The configuration of one provider of one tenant.
package final class ProviderConfiguration: Sendable {
    /// The name in paths, entries and answers.
    package let name: ProviderName
    /// The name shown in messages.
    package let displayName: String
    /// The rules that the provider's ID tokens must satisfy.
    package let check: IDTokenPolicy
    /// The provider's keys.
    package let keys: KeySetCache

    /// Describes a provider; the display name defaults to the capitalised name.
    package init(
        name: ProviderName, displayName: String? = nil, check: IDTokenPolicy, keys: KeySetCache
    ) {
        self.name = name
        self.displayName = displayName ?? Self.capitalized(name)
        self.check = check
        self.keys = keys
    }

    /// Returns a name with its first letter in upper case.
    static func capitalized(_ name: ProviderName) -> String {
        let text = name.description
        return text.prefix(1).uppercased() + text.dropFirst()
    }

    /// Checks an ID token against the nonce that the client sent, at a given time.
    package func prove(_ idToken: String, nonce: String?, at now: Timestamp) async -> ProviderProof {
        let checked: IDTokenClaims
        do {
            checked = try await IDTokenChecker(policy: check)
                .check(idToken, nonce: nonce, keys: keys, now: now.seconds)
        } catch .keysUnavailable {
            return .unavailable
        } catch {
            return .invalid
        }
        guard let subject = Subject(provider: name, providerID: checked.subject) else {
            return .invalid
        }
        let proved = min(max(checked.authTime ?? checked.issuedAt, 0), now.seconds)
        // An address that the provider does not call verified is unverified.
        let email = checked.email.map { Email($0, isVerified: checked.emailVerified ?? false) }
        return .proved(
            subject, email: email, authenticatedAt: Timestamp(seconds: proved),
            issuedAt: Timestamp(seconds: min(max(checked.issuedAt, 0), now.seconds + 600)),
            acceptedUntil: Timestamp(seconds: checked.expiresAt + check.leewaySeconds))
    }
}

/// The result of checking an ID token.
package enum ProviderProof: Sendable {
    /// The token is valid: its subject and e-mail address, when the person authenticated, when it
    /// was issued, and when it expires.
    case proved(
        Subject, email: Email?, authenticatedAt: Timestamp, issuedAt: Timestamp,
        acceptedUntil: Timestamp)
    /// The token is not valid.
    case invalid
    /// The provider's keys could not be fetched.
    case unavailable
}
