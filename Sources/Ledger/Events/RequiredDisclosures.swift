extension Event {
    /// The disclosures that every event of its type and cause has about its first account, since
    /// the first release.
    ///
    /// The e-mail and its verification are optional, because a provider may withhold them, and so
    /// is the user agent, because a client may omit it. Account holders use HTTP, so the ledger
    /// knows their IP address.
    package var requiredDisclosures: [Disclosure.Name] {
        switch self {
        case .ledgerOpened, .keyRotated, .ledgerRestored, .accountErased, .legalHoldSet,
            .legalHoldLifted:
            []
        case .accountOpened, .providerUnlinked, .conflictRejected, .linkRejected,
            .unlinkRejected, .signedIn, .signedOut, .sessionRevoked:
            [.clientIP]
        case .providerLinked(let fact):
            switch fact.cause {
            case .link, .signUp: [.clientIP, .providerID]
            case .relink: [.caseReference, .providerID, .reason]
            }
        case .accountsMerged(let fact):
            switch fact.cause {
            case .accountHolder: [.clientIP]
            case .support: [.caseReference, .reason]
            }
        case .accountsUnmerged:
            [.caseReference, .reason]
        }
    }
}

extension RecordedEvent {
    /// The number of disclosures that the entry commits to and the number required; nil when they
    /// suffice.
    ///
    /// Requires no key, so it also works for erased accounts.
    package var shortfall: (count: Int, required: Int)? {
        let required = event.requiredDisclosures.count
        return disclosureDigests.count < required
            ? (count: disclosureDigests.count, required: required) : nil
    }

    /// Returns the names of the required disclosures that are missing from these values.
    package func missingDisclosures(among disclosed: DisclosedValues) -> [Disclosure.Name] {
        event.requiredDisclosures.filter { disclosed[$0] == nil }
    }
}
