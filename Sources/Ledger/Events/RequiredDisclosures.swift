extension Event {
    /// What every event of its type and cause has disclosed about its first account, since the first release.
    ///
    /// Neither the e-mail with whether it is verified, which a provider may keep to itself, nor the user agent,
    /// which a client may leave out. Account holders come by HTTP, so the ledger knows their address.
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
    /// How many disclosures the entry commits to and must commit to; nil when they are enough.
    ///
    /// Needs no key, so it can be told of erased accounts, too.
    package var shortfall: (count: Int, required: Int)? {
        let required = event.requiredDisclosures.count
        return disclosureDigests.count < required
            ? (count: disclosureDigests.count, required: required) : nil
    }

    /// The names of what had to be disclosed and is not among these values.
    package func missingDisclosures(among disclosed: DisclosedValues) -> [Disclosure.Name] {
        event.requiredDisclosures.filter { disclosed[$0] == nil }
    }
}
