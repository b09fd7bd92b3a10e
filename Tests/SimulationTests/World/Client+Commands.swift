import Ledger

extension Command {
    /// The session of the command.
    var caller: Caller? {
        switch intent {
        case .linkProvider(let intent): intent.caller
        case .unlinkProvider(let intent): intent.caller
        case .signOut(let intent): intent.caller
        case .changePassword(let intent): intent.renewal.caller
        case .changeAddress(let intent): intent.renewal.caller
        case .enrolFactor(let intent): intent.caller
        case .removeFactor(let intent):
            switch intent.authority {
            case .accountHolder(let caller), .keptByHolder(let caller): caller
            case .planned: nil
            }
        case .endUnlinkPlan(let intent):
            if case .kept(let caller) = intent.ending { caller } else { nil }
        case .openLedger, .rotateKey, .signIn, .refreshSession, .eraseAccount, .setLegalHold,
            .liftLegalHold, .recordRestore, .mergeAccounts, .unmergeAccounts, .relinkProvider,
            .setRules, .resetPassword, .takeBackAddress, .recordThrottling, .importPassword,
            .importAccount,
            .changeAccess, .planFactorRemoval, .planUnlink:
            nil
        }
    }
}

extension MergeAccounts {
    /// The surviving account.
    var survivor: AccountID {
        switch authority {
        case .accountHolder(let caller, _), .holderOfBoth(let caller, _): caller.account
        case .support(_, let named): named.survivor
        }
    }
}

extension Request {
    var key: IdempotencyKey? {
        switch self {
        case .link(_, _, _, let key, _), .unlink(_, _, let key), .unmerge(_, _, _, let key): key
        case .merge(let intent): intent.idempotency
        case .open, .rotateKey, .signIn, .signOut, .refresh, .erase, .hold, .lift, .recordRestore,
            .relink, .setRules, .changeAccess, .enrol, .removeFactor, .planRemoval, .secondStep,
            .changeAddress, .takeBack, .planUnlink, .endUnlinkPlan:
            nil
        }
    }

    var hasKey: Bool { key != nil }
}
