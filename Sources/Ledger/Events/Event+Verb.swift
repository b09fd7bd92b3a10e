extension Event {
    /// The action of the first account that the event touches, or what happened to it, in plain
    /// words.
    package var verb: String {
        switch self {
        case .accountOpened: "was opened"
        case .providerLinked(let fact):
            switch fact.cause {
            case .link: "linked"
            case .signUp: "signed up with"
            case .relink: "was relinked with"
            }
        case .providerUnlinked: "unlinked"
        case .conflictRejected, .linkRejected: "could not link"
        case .unlinkRejected: "could not unlink"
        case .signedIn: "signed in with"
        case .signedOut(let fact):
            switch fact.scope {
            case .session: "signed out"
            case .everywhere: "signed out everywhere"
            }
        case .sessionRevoked: "had a session revoked"
        case .accountErased: "was erased"
        case .legalHoldSet: "was put under a legal hold"
        case .legalHoldLifted: "was released from a legal hold"
        case .accountsMerged: "absorbed"
        case .accountsUnmerged: "gave back"
        // These touch no account.
        case .ledgerOpened: "began"
        case .keyRotated: "rotated a key"
        case .ledgerRestored: "was restored"
        }
    }
}
