internal import Ledger

/// Learns from a provider for which client and person it issued an access token.
protocol TokenInspector: Sendable {
    /// The provider's interface.
    var api: ProviderAPI { get }
    /// Whether it compares the client, so that a token of unknown origin proves something.
    var comparesClient: Bool { get }

    /// Inspects a well-formed token.
    ///
    /// - Throws: `invalid` for a token that the provider does not know, that has expired or that was
    ///   made for another client; `unavailable` without the provider's answer.
    func inspect(
        _ token: String, at now: Int64
    ) async throws(Credential.Flaw) -> InspectedToken
}

extension TokenInspector {
    var comparesClient: Bool { true }
}

/// The facts about an access token, as its provider tells them.
struct InspectedToken: Sendable {
    /// The provider's own name for the person.
    let subject: String
    /// The time of issue, in seconds since 1970; nil when the provider does not tell it.
    let issuedAt: Int64?
    /// The time at which the person authenticated; nil when the provider does not tell it.
    var authenticatedAt: Int64?
    /// The time at which the person authenticated or, without it, the time of issue.
    var statedTime: Int64? { authenticatedAt ?? issuedAt }
    /// The address; nil when the provider discloses none.
    let email: Email?
}
