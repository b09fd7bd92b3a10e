extension Event {
    /// What the first account that the event touches did, or what was done to it, in plain words.
    package var verb: String {
        switch self {
        case .accountOpened: "was opened"
        case .providerLinked(let fact):
            switch fact.cause {
            case .link: "linked"
            case .signUp: "signed up with"
            case .relink: "was given back"
            }
        case .providerUnlinked: "unlinked"
        case .conflictRejected, .linkRejected: "was refused to link"
        case .unlinkRejected: "was refused to unlink"
        case .signedIn: "signed in with"
        case .signedOut(let fact):
            switch fact.scope {
            case .session: "signed out"
            case .everywhere: "signed out everywhere"
            }
        case .sessionRevoked: "had a session ended"
        case .accountErased: "was erased"
        case .legalHoldSet: "was put under a legal hold"
        case .legalHoldLifted: "was freed from a legal hold"
        case .accountsMerged: "absorbed"
        case .accountsUnmerged: "gave back"
        // These touch no account.
        case .ledgerOpened: "began"
        case .keyRotated: "took another key"
        case .ledgerRestored: "was restored"
        }
    }
}
