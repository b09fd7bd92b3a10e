package import Cryptography
package import Ledger

/// What is configured for one provider of one tenant.
package final class ProviderConfiguration: Sendable {
    /// The name in paths, entries and answers.
    package let name: ProviderName
    /// The name in messages.
    package let displayName: String
    /// What the provider's ID tokens must look like.
    package let check: IDTokenPolicy
    /// The provider's keys.
    package let keys: KeySetCache

    /// Describes a provider; without a display name it is called by its name capitalised.
    package init(
        name: ProviderName, displayName: String? = nil, check: IDTokenPolicy, keys: KeySetCache
    ) {
        self.name = name
        self.displayName = displayName ?? Self.capitalized(name)
        self.check = check
        self.keys = keys
    }

    /// A name with its first letter in upper case.
    static func capitalized(_ name: ProviderName) -> String {
        let text = name.description
        return text.prefix(1).uppercased() + text.dropFirst()
    }

    /// Finds out who an ID token is about, with what the client sent as nonce, at a time.
    func prove(_ idToken: String, nonce: String?, at now: Timestamp) async -> ProviderProof {
        let checked: IDTokenClaims
        do {
            checked = try await IDTokenChecker(policy: check)
                .check(idToken, nonce: nonce, keys: keys, now: now.seconds)
        } catch .keysUnavailable {
            return .unavailable
        } catch {
            return .invalid
        }
        guard let identity = ProviderIdentity(provider: name, providerID: checked.subject) else {
            return .invalid
        }
        let proved = min(max(checked.authTime ?? checked.issuedAt, 0), now.seconds)
        // What a provider does not say that it verified, it did not.
        let email = checked.email.map { Email($0, isVerified: checked.emailVerified ?? false) }
        return .proved(
            identity, email: email, authenticatedAt: Timestamp(seconds: proved),
            issuedAt: Timestamp(seconds: min(max(checked.issuedAt, 0), now.seconds + 600)),
            acceptedUntil: Timestamp(seconds: checked.expiresAt + check.leewaySeconds))
    }
}

/// What checking an ID token gave.
enum ProviderProof: Sendable {
    /// The token is good: the subject, its e-mail address, when the person proved who they are, when the
    /// token was made, and until when it is good.
    case proved(
        ProviderIdentity, email: Email?, authenticatedAt: Timestamp, issuedAt: Timestamp,
        acceptedUntil: Timestamp)
    /// The token proves nothing.
    case invalid
    /// The provider's keys could not be had.
    case unavailable
}
