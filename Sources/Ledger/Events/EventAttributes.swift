/// The objects of an event beside its accounts.
package struct EventAttributes: Sendable {
    /// The reason of a refusal, or the ground of an action.
    package let reason: String?
    package let provider: ProviderName?
    package let identity: IdentityID?
    package let session: SessionID?

    init(
        reason: String? = nil, provider: ProviderName? = nil, identity: IdentityID? = nil,
        session: SessionID? = nil
    ) {
        self.reason = reason
        self.provider = provider
        self.identity = identity
        self.session = session
    }
}
