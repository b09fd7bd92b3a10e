/// Replaces an address of the caller's account by another one that was proved, ends all sessions, and opens a new one
/// for the caller.
///
/// Identities and their subjects stay as they are. A person who proves the former address can take it back for
/// ``HeldAddress/keptSeconds``.
package struct ChangeAddress: Sendable {
    package let renewal: SessionRenewal
    /// The proof of the new address, by a code that was sent for the change.
    package let proof: Proof
    /// The names of the present address, by every key.
    package let present: [AddressName]
    /// The id of the present address while it can be taken back.
    package let newFormer: AddressID

    /// Requests a change.
    package init(
        _ renewal: SessionRenewal, from present: [AddressName], to proof: Proof,
        newFormer: AddressID
    ) {
        self.renewal = renewal
        self.proof = proof
        self.present = present
        self.newFormer = newFormer
    }

    func decide(
        given state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        let provider = proof.subject.provider
        guard policy.providers[provider] != nil, let address = proof.address else {
            return .refused(.unsupportedProvider)
        }
        let present = state.holding(self.present)
        let user = present.flatMap { state.subject($0, provider) }.flatMap { state.directory[$0] }
        let (account, opening): (Account, SessionOpening)
        switch renewal.check(
            in: state, disclosing: proof.email, of: user, at: now, under: policy)
        {
        case .failure(let refusal): return .refused(refusal)
        case .success(let checked): (account, opening) = checked
        }
        guard state.isCurrent(proof) else { return .refused(proof.staleRefusal) }
        guard let held = present, let name = state.name(of: held, among: self.present),
            let identity = user,
            account.links.contains(where: { $0.identity == identity }), !held.isClaimed,
            state.ledger.root(of: held.account) == account.id
        else { return .refused(.providerNotLinked) }
        var drafts: [Decision.Draft] = []
        switch state.standing(of: address, at: now, under: policy) {
        case .held(_, let keeper) where keeper.id != account.id:
            guard let lost = state.lostAddress(to: proof, at: now, under: policy),
                !lost.isHandedOver
            else { return .refused(.providerConflict(.heldByOther)) }
            drafts = state.ends(of: lost, by: renewal.actor)
        case .held: return .refused(.providerConflict(.alreadyYours))
        case .free(let former):
            if let former { drafts.append(former.release(by: renewal.actor)) }
        }
        if held.isKept(at: now), let until = held.keptUntil {
            let wait = Budget(limit: 1, windowSeconds: HeldAddress.keptSeconds)
            return .refused(
                .rateLimited(
                    retryAfterSeconds: wait.secondsUntilFree(
                        since: until.adding(seconds: -wait.windowSeconds), at: now)))
        }
        let fact = AddressChanged(
            account: held.account, survivor: held.account == account.id ? nil : account.id,
            address: held.id, former: newFormer, kind: held.kind, cause: .change)
        drafts.append(
            .init(
                .addressChanged(fact), actor: renewal.actor,
                disclosures: [Disclosure(address.kind.disclosure, address.text)]))
        return Decision(
            .success(.addressChanged(opening.grant)), drafts: drafts + [opening.draft],
            effects: proof.used + [
                .challengesEndedOf(state.ledger.absorbed(by: account.id)),
                .addressNamed(name, newFormer), .addressNamed(address.newName, held.id),
                opening.effect,
            ])
    }
}

extension ChangeAddress: LedgerRequest {
    package var intent: Command.Intent { .changeAddress(self) }

    /// Returns the new session in a reply to the command.
    package static func success(in reply: Reply) -> Grant? {
        guard case .addressChanged(let grant) = reply else { return nil }
        return grant
    }
}
