/// Undoes a merge, or returns the plan of undoing it.
package struct UnmergeAccounts: Sendable {
    /// The effects of undoing a merge.
    package struct Plan: Hashable, Sendable {
        package let survivor: AccountID
        package let absorbed: AccountID
        /// The links that return to the absorbed account, in linking order.
        package let returned: [Account.Link]
        /// The links that are restored to the survivor.
        package let restored: [Account.Link]
        /// All links of the survivor afterwards, in linking order.
        package let links: [Account.Link]
        /// The second factors and recovery codes that return to the absorbed account.
        package let factors: [MergedFactor]
        /// The linked providers of each account afterwards, in linking order.
        package let survivorProviders: [ProviderName]
        package let absorbedProviders: [ProviderName]

        init(
            survivor: AccountID, absorbed: AccountID, returned: [Account.Link],
            restored: [Account.Link], links: [Account.Link], factors: [MergedFactor]
        ) {
            self.survivor = survivor
            self.absorbed = absorbed
            self.returned = returned
            self.restored = restored
            self.links = links
            self.factors = factors
            survivorProviders = links.providers
            absorbedProviders = returned.providers
        }
    }

    /// The reasons why a merge can no longer be undone.
    package enum Obstacle: String, Hashable, Sendable {
        /// It was already undone, or one of the accounts was erased.
        case notActive = "not_active"
        /// The survivor was merged into another account since.
        case survivorMerged = "survivor_merged"
        /// The survivor absorbed yet another account since.
        case laterMerge = "later_merge"
        /// An identity was unlinked, moved or linked anew since, or a second factor removed, or the survivor would keep
        /// recovery codes alone.
        case identityChanged = "identity_changed"
        /// The survivor has another identity of a provider whose link would be restored.
        case providerTaken = "provider_taken"
        /// The survivor was anonymous, and has another identity since.
        case upgraded
        /// Both accounts would be signed in to with one address.
        case addressShared = "address_shared"
        /// One of the accounts would have no way to sign in.
        case noWayToSignIn = "no_way_to_sign_in"
    }

    /// The `AccountsMerged`.
    package let merge: EventID
    package let survivor: AccountID
    package let absorbed: AccountID
    package let actor: Actor
    package let reason: String
    package let caseReference: String
    /// Whether only the plan is requested.
    package let isPreview: Bool
    package let step: TwoPersonStep
    package let idempotency: IdempotencyKey?

    /// Requests to undo a merge.
    package init(
        merge: EventID, survivor: AccountID, absorbed: AccountID, actor: Actor, reason: String,
        caseReference: String, isPreview: Bool, step: TwoPersonStep = .alone,
        idempotency: IdempotencyKey? = nil
    ) {
        self.merge = merge
        self.survivor = survivor
        self.absorbed = absorbed
        self.actor = actor
        self.reason = reason
        self.caseReference = caseReference
        self.isPreview = isPreview
        self.step = step
        self.idempotency = idempotency
    }

    func decide(given state: DecisionState, under policy: TenantPolicy) -> Decision {
        if let earlier = earlierAnswer(to: idempotency, in: state) { return earlier }
        guard let survivor = state.ledger.accounts[survivor],
            let absorbed = state.ledger.accounts[absorbed]
        else { return .refused(.unknownMerge) }
        guard let merge = survivor.merges.first(where: { $0.id == merge }) else {
            return .refused(.mergeSuperseded(.notActive))
        }
        if survivor.mergedInto != nil { return .refused(.mergeSuperseded(.survivorMerged)) }
        guard survivor.disabledPosition == nil else { return .refused(.accountDisabled) }
        let needsTwo = !survivor.secondFactors.isEmpty
        if needsTwo, case .alone = step { return .refused(.secondFactorEnrolled) }
        guard survivor.merges.last == merge else { return .refused(.mergeSuperseded(.laterMerge)) }
        guard let plan = plan(merge, survivor, absorbed, state) else {
            return .refused(.mergeSuperseded(.identityChanged))
        }
        if let obstacle = obstacle(to: plan, survivor, state, policy) {
            return .refused(.mergeSuperseded(obstacle))
        }
        // An entry has a maximum number of links.
        guard plan.returned.count + plan.restored.count + plan.links.count <= EntryDetails.linksMax
        else { return .refused(.tooMuchToMerge) }
        let asker: Principal?
        do throws(Refusal) {
            let permission = try step.permission(
                of: actor, isNeeded: needsTwo, isPreview: isPreview
            ) { bytes(of: plan, survivor, asker: $0) }
            switch permission {
            case .act(let first): asker = first
            case .ask(let digest): return Decision(.success(.unmergeAsked(digest)))
            }
        } catch {
            return .refused(error)
        }
        guard !isPreview else {
            return Decision(.success(.unmergePlanned(plan, needsTwo: needsTwo)))
        }
        let fact = AccountsUnmerged(
            survivor: plan.survivor, absorbed: plan.absorbed, merge: merge.id,
            returned: plan.returned, restored: plan.restored, links: plan.links,
            factors: plan.factors, asker: asker)
        return Decision(
            .success(.unmerged(plan, nil)),
            drafts: [
                .init(
                    .accountsUnmerged(fact), actor: actor,
                    disclosures: [
                        Disclosure(.caseReference, caseReference), Disclosure(.reason, reason),
                    ], disclosesRequest: false)
            ], effects: state.planEnds(plan.factors)
        ).remembered(under: idempotency)
    }

    /// The bytes that the digest of a request covers: they differ for another merge, other links, other second factors
    /// and another asker.
    private func bytes(of plan: Plan, _ survivor: Account, asker: Principal) -> [UInt8] {
        let factors = survivor.secondFactors.map(\.description).joined(separator: ",")
        return Array(
            """
            account-ledger undo plan 2
            \(merge) \(plan.survivor) \(plan.absorbed)
            returned \(plan.returned.planText)
            restored \(plan.restored.planText)
            links \(plan.links.planText)
            factors \(factors)
            returned factors \(plan.factors.fieldText ?? "")
            asker \(asker)
            """.utf8)
    }

    /// Returns the plan; nil when an identity or a second factor is no longer where the merge left it.
    private func plan(
        _ merge: Merge, _ survivor: Account, _ absorbed: Account, _ state: DecisionState
    ) -> Plan? {
        let ledger = state.ledger
        let family = ledger.absorbed(by: absorbed.id)
        let held = state.factors(of: survivor.id)
        let back = held.filter { family.contains($0.account) }
        let rest = held.filter { !family.contains($0.account) }
        guard absorbed.secondFactors.allSatisfy(back.map(\.id).contains),
            rest.isEmpty || rest.contains(where: \.kind.isRequired)
        else { return nil }
        let factors = state.moved(back, with: absorbed)
        var returned: [Account.Link] = []
        for identity in merge.moved {
            guard let link = survivor.links.first(where: { $0.identity == identity }),
                link.position < merge.position
            else { return nil }
            returned.insert(link)
        }
        var restored: [Account.Link] = []
        for identity in merge.dropped {
            guard let link = ledger.linkRemovedByMerge(identity, before: merge) else { return nil }
            returned.insert(link)
        }
        for identity in merge.replaced {
            guard let link = ledger.linkRemovedByMerge(identity, before: merge) else { return nil }
            restored.insert(link)
        }
        var former = survivor
        former.links.remove(merge.moved)
        for link in restored { former.links.insert(link) }
        return Plan(
            survivor: survivor.id, absorbed: absorbed.id, returned: returned, restored: restored,
            links: former.links, factors: factors)
    }

    private func obstacle(
        to plan: Plan, _ survivor: Account, _ state: DecisionState, _ policy: TenantPolicy
    ) -> Obstacle? {
        let restored = Set(plan.restored.map(\.provider))
        let kept = Set(survivor.links.map(\.identity)).subtracting(plan.returned.map(\.identity))
        if !policy.severalPerProvider,
            plan.links.contains(where: {
                restored.contains($0.provider) && kept.contains($0.identity)
            })
        {
            return .providerTaken
        }
        if !kept.isEmpty,
            plan.restored.contains(where: { state.isAnonymous($0.provider, under: policy) })
        {
            return .upgraded
        }
        let addresses = [plan.links, plan.returned].map {
            state.addressSubjects(of: $0, under: policy)
        }
        if !addresses[0].isDisjoint(with: addresses[1]) { return .addressShared }
        let back = plan.factors.required
        let rest = survivor.secondFactors.filter { !back.contains($0) }
        guard state.canSignIn(to: plan.links, with: rest, at: nil, under: policy),
            state.canSignIn(to: plan.returned, with: back, at: nil, under: policy)
        else { return .noWayToSignIn }
        return nil
    }
}

extension LedgerState {
    /// Returns the last link of an identity that a merge removed; nil when it was linked since, or
    /// is unknown.
    fileprivate func linkRemovedByMerge(_ identity: IdentityID, before merge: Merge) -> Account
        .Link?
    {
        guard let known = identities[identity], known.account == nil, !isForgotten(known),
            known.linkedPosition < merge.position
        else { return nil }
        return Account.Link(
            identity: identity, provider: known.provider, linkedAt: known.linkedAt,
            position: known.linkedPosition)
    }
}

extension UnmergeAccounts: LedgerRequest {
    /// Requests the plan alone.
    package struct Preview: LedgerRequest {
        /// A plan, and whether it needs two persons.
        package struct Success: Hashable, Sendable {
            package let plan: Plan
            package let needsTwo: Bool
        }

        private let command: UnmergeAccounts

        /// Requests the plan of undoing a merge.
        package init(
            merge: EventID, survivor: AccountID, absorbed: AccountID, actor: Actor,
            step: TwoPersonStep = .alone
        ) {
            command = UnmergeAccounts(
                merge: merge, survivor: survivor, absorbed: absorbed, actor: actor, reason: "",
                caseReference: "", isPreview: true, step: step)
        }

        package var intent: Command.Intent { .unmergeAccounts(command) }

        /// Returns the plan in a reply to the preview.
        package static func success(in reply: Reply) -> Success? {
            guard case .unmergePlanned(let plan, let needsTwo) = reply else { return nil }
            return Success(plan: plan, needsTwo: needsTwo)
        }
    }

    /// An undone merge, or the digest of the plan that another person has to confirm.
    package enum Success: Hashable, Sendable {
        case undone(Executed<Plan>)
        case asked(Digest)
    }

    package var intent: Command.Intent { .unmergeAccounts(self) }

    /// Returns the result in a reply to the command.
    package static func success(in reply: Reply) -> Success? {
        switch reply {
        case .unmerged(let plan, let event): Executed(plan, event).map { .undone($0) }
        case .unmergeAsked(let digest): .asked(digest)
        default: nil
        }
    }
}
