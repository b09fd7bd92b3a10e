/// Records a tenant's rules; answers the same when they are recorded already.
package struct SetRules: Sendable {
    /// The conditions under which recorded rules are replaced.
    package enum Condition: Sendable, Hashable {
        /// Recorded rules are not replaced: a process that starts records the first ones only.
        case noneRecorded
        /// If no account loses its last way to sign in.
        case withoutLockOuts
        /// In any case: the operator has accepted who is locked out.
        case acceptsLockOuts
    }

    package let policy: TenantPolicy
    package let condition: Condition
    /// The providers with identities that may get another type or other issuers: the operator has
    /// confirmed that the recorded ones are wrong.
    package let acceptedIssuers: Set<ProviderName>

    /// Requests rules.
    package init(
        _ policy: TenantPolicy, condition: Condition, acceptedIssuers: Set<ProviderName> = []
    ) {
        self.policy = policy
        self.condition = condition
        self.acceptedIssuers = acceptedIssuers
    }

    func decide(given state: DecisionState) -> Decision {
        guard state.ledger.nextPosition != LogPosition(0) else { return .refused(.unknownTenant) }
        let recorded = state.ledger.rules
        let used = usedProviders(in: state)
        let linked = state.ledger.identities.values.filter {
            $0.account != nil && !state.ledger.isForgotten($0)
        }
        func reply(_ rules: RulesSet, isNew: Bool) -> Reply {
            let omitted = state.linkedProviders.union(linked.map(\.provider))
                .subtracting(rules.policy.providers.keys).sorted()
            return .rulesRecorded(rules, isNew: isNew, omitted: omitted)
        }
        if let recorded, recorded.policy == policy || condition == .noneRecorded {
            return Decision(.success(reply(recorded, isNew: false)))
        }
        let changed = (recorded?.providersPinnedOtherwise(in: policy) ?? [])
            .intersection(used)
            .filter { !acceptedIssuers.contains($0) || changesNature(of: $0, since: recorded) }
        if let first = changed.min() { return .refused(.providerPinned(first)) }
        if condition != .acceptsLockOuts, let recorded {
            let lost = lostProviders(in: state, since: recorded.policy)
                .union(lostFactorProviders(in: state, since: recorded.policy))
            guard lost.isEmpty else { return .refused(.accountsLockedOut(lost.sorted())) }
        }
        let fact = RulesSet(
            version: (recorded?.rulesVersion ?? 0) + 1, policy: policy,
            formerProviders: (recorded?.pins ?? [:]).filter {
                used.contains($0.key) && policy.providers[$0.key] == nil
            })
        guard let fact else { return .refused(.rulesTooLong) }
        return Decision(
            .success(reply(fact, isNew: true)),
            drafts: [.init(.rulesSet(fact), actor: .system)])
    }

    /// Whether the identities of a provider become anonymous or found by addresses, or are no longer: which no
    /// operator can mean.
    private func changesNature(of provider: ProviderName, since recorded: RulesSet?) -> Bool {
        let types = [recorded?.pins[provider]?.type, policy.providers[provider]?.type]
        return types[0] != types[1]
            && types.contains { $0 == .anonymous || $0?.addressKind != nil }
    }

    /// Returns the providers with identities, those of earlier commands of the batch included.
    private func usedProviders(in state: DecisionState) -> Set<ProviderName> {
        let known = state.ledger.identities.values.filter { !state.ledger.isForgotten($0) }
        return state.usedProviders.union(known.map(\.provider))
    }

    /// Returns the providers that the new rules lack and by which alone an account could be signed in
    /// to until now.
    private func lostProviders(
        in state: DecisionState, since former: TenantPolicy
    ) -> Set<ProviderName> {
        let removed = Set(former.providers.keys).subtracting(policy.providers.keys)
        var sole = state.soleProviders
        for account in state.ledger.accounts.values
        where state.usableWays(account.links, with: [], at: nil, under: policy).isEmpty {
            sole.formUnion(waysToSignIn(account.links, former).map(\.provider))
        }
        return removed.intersection(sole)
    }

    /// Returns the former providers of passkeys for whose domain an account has a second factor, and which no
    /// provider of the new rules has.
    private func lostFactorProviders(
        in state: DecisionState, since former: TenantPolicy
    ) -> Set<ProviderName> {
        let loaded = state.factorKeys.filter { state.ledger.factors[$0.key] != nil }
        let domains = state.lostFactorDomains.union(loaded.values.map(\.domain))
            .intersection(policy.lostFactorDomains(since: [former]))
        return Set(
            former.providers.filter { !domains.isDisjoint(with: $0.value.passkeyDomains) }.keys)
    }
}

extension TenantPolicy {
    /// Returns the domains of passkeys that earlier rules have and these have not.
    package func lostFactorDomains(since former: [TenantPolicy]) -> Set<String> {
        Set(former.flatMap { $0.providers.values.flatMap(\.passkeyDomains) })
            .subtracting(providers.values.flatMap(\.passkeyDomains))
    }
}

extension ProviderPin {
    fileprivate var passkeyDomains: [String] { type == .passkey ? issuers : [] }
}
