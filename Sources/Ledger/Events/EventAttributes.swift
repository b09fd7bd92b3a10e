/// The objects of an event beside its accounts.
package struct EventAttributes: Sendable {
    /// The reason of a refusal, or the ground of an action.
    package private(set) var reason: String?
    package private(set) var provider: ProviderName?
    package private(set) var identity: IdentityID?
    package private(set) var session: SessionID?

    /// Extracts them from the fact.
    package init(_ event: Event) {
        switch event {
        case .ledgerOpened, .keyRotated, .accountOpened:
            break
        case .providerLinked(let fact):
            (provider, identity) = (fact.provider, fact.identity)
            if fact.cause == .relink { reason = fact.cause.rawValue }
        case .providerUnlinked(let fact):
            (provider, identity) = (fact.provider, fact.identity)
        case .conflictRejected(let fact):
            (reason, provider, identity) = (fact.reason.rawValue, fact.provider, fact.identity)
        case .linkRejected(let fact):
            (reason, provider) = (fact.reason.rawValue, fact.provider)
        case .unlinkRejected(let fact):
            (reason, provider, identity) = (fact.reason.rawValue, fact.provider, fact.identity)
        case .signedIn(let fact):
            (provider, identity, session) = (fact.provider, fact.identity, fact.session)
        case .signedOut(let fact):
            session = fact.session
        case .sessionRevoked(let fact):
            (reason, session) = (fact.reason.rawValue, fact.session)
        case .accountErased(let fact):
            reason = fact.basis.rawValue
        case .accountsMerged(let fact):
            reason = fact.cause.rawValue
        case .legalHoldSet, .legalHoldLifted, .ledgerRestored, .accountsUnmerged:
            break
        }
    }
}
