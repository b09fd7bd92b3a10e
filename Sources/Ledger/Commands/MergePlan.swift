/// The plan of a merge: shown before it is agreed to, and executed exactly as shown or not at all.
package struct MergePlan: Hashable, Sendable {
    /// A provider of which the merged account may keep only one side's identities.
    package struct Choice: Hashable, Sendable {
        package let provider: ProviderName
        /// Whether the absorbed account's identity stays instead of the survivor's.
        package let keepsAbsorbed: Bool
    }

    package let survivor: AccountID
    package let absorbed: AccountID
    /// The absorbed account's links that move to the survivor, in linking order.
    package let moved: [Account.Link]
    /// The absorbed account's links that are removed.
    package let dropped: [Account.Link]
    /// The survivor's links that the absorbed account's replace.
    package let replaced: [Account.Link]
    /// The providers of which both sides have identities and an account may have one.
    package let choices: [Choice]
    /// All links of the survivor afterwards, in linking order.
    package let links: [Account.Link]
    /// The survivor's second factors, which stay.
    package let keptFactors: [FactorID]
    /// The absorbed account's second factors and recovery codes, which the survivor gets.
    package let factors: [MergedFactor]
    /// The number of events that touch the absorbed account so far: a plan is valid for one merge,
    /// even when that merge is undone.
    package let absorbedSequence: Int64
    /// The linked providers afterwards, in linking order, without duplicates.
    package let linkedProviders: [ProviderName]

    /// Plans a merge by a tenant's rules.
    ///
    /// Of anonymous identities, the merged account keeps the survivor's, and that only if it has no other
    /// one: they are there until an account has another identity.
    ///
    /// - Parameters:
    ///   - absorbed: the account to absorb.
    ///   - survivor: the account that remains.
    ///   - keepsAbsorbed: the providers of which the absorbed account's identity stays; of the
    ///     others the survivor's does.
    ///   - factors: the absorbed account's second factors and recovery codes.
    ///   - policy: the tenant's rules.
    ///   - type: returns the type of a provider.
    init(
        of absorbed: Account, into survivor: Account, keepsAbsorbed: Set<ProviderName>,
        factors: [MergedFactor], under policy: TenantPolicy,
        type: (ProviderName) -> ProviderType?
    ) {
        func isAnonymous(_ provider: ProviderName) -> Bool { type(provider) == .anonymous }
        self.survivor = survivor.id
        self.absorbed = absorbed.id
        let shared = survivor.linkedProviders.filter {
            // An account has one identity that is found by an address and any number of passkeys, whatever the
            // rules say.
            let isSingle =
                type($0) != .passkey
                && (!policy.severalPerProvider || type($0)?.addressKind != nil)
            return isSingle && absorbed.linkedProviders.contains($0)
        }
        choices = shared.filter { !isAnonymous($0) }
            .map { Choice(provider: $0, keepsAbsorbed: keepsAbsorbed.contains($0)) }
        let given = Set(choices.filter(\.keepsAbsorbed).map(\.provider))
        let kept = Set(choices.filter { !$0.keepsAbsorbed }.map(\.provider))
        func isDropped(_ link: Account.Link) -> Bool {
            kept.contains(link.provider) || isAnonymous(link.provider)
        }
        moved = absorbed.links.filter { !isDropped($0) }
        dropped = absorbed.links.filter(isDropped)
        let isIdentified = !moved.isEmpty
        replaced = survivor.links.filter {
            given.contains($0.provider) || (isIdentified && isAnonymous($0.provider))
        }
        var after = survivor
        after.links.remove(replaced.map(\.identity))
        for link in moved { after.links.insert(link) }
        links = after.links
        keptFactors = survivor.secondFactors
        self.factors = factors
        absorbedSequence = absorbed.nextSequence
        linkedProviders = after.linkedProviders
    }

    /// Describes an existing plan.
    init(
        survivor: AccountID, absorbed: AccountID, moved: [Account.Link], dropped: [Account.Link],
        replaced: [Account.Link], choices: [Choice], links: [Account.Link],
        keptFactors: [FactorID], factors: [MergedFactor], absorbedSequence: Int64
    ) {
        self.survivor = survivor
        self.absorbed = absorbed
        self.moved = moved
        self.dropped = dropped
        self.replaced = replaced
        self.choices = choices
        self.links = links
        self.keptFactors = keptFactors
        self.factors = factors
        self.absorbedSequence = absorbedSequence
        linkedProviders = links.providers
    }

    /// The survivor's links that stay.
    package var kept: [Account.Link] { links.filter { !moved.contains($0) } }

    /// The second factors afterwards: every sign-in needs one of them.
    package var secondFactors: [FactorID] { keptFactors + factors.required }

    /// Whether one of the accounts has a second factor, so that support merges them by two persons.
    package var touchesFactors: Bool { !secondFactors.isEmpty }

    /// The survivor's identities whose sessions end: those that are replaced or, if its sessions began without a second
    /// factor and it gets its first one, all.
    package var endedOpeners: [IdentityID] {
        let ended = factors.bringFirst(to: keptFactors) ? replaced + kept : replaced
        return ended.map(\.identity)
    }

    /// The number of links that the event holds.
    var linkCount: Int { moved.count + dropped.count + replaced.count + links.count }

    /// The bytes that the plan's digest covers: both accounts, the absorbed one's event count, every link with its
    /// position, and the second factors of both, so that another plan, or the same one after it was executed, has
    /// another digest.
    package var bytes: [UInt8] {
        Array(
            """
            account-ledger merge plan 1
            \(survivor) \(absorbed) \(absorbedSequence)
            moved \(moved.planText)
            dropped \(dropped.planText)
            replaced \(replaced.planText)
            links \(links.planText)
            """.utf8) + Array(factorText.utf8)
    }

    /// The second factors in those bytes; empty for accounts without any.
    private var factorText: String {
        if secondFactors.isEmpty && factors.isEmpty { return "" }
        let kept = keptFactors.map(\.description).joined(separator: ",")
        return "\nfactors \(kept) and \(factors.fieldText ?? "")"
    }
}

extension [Account.Link] {
    /// The links in the bytes that a plan's digest covers.
    var planText: String { map { "\($0.identity)@\($0.position)" }.joined(separator: ",") }
}
