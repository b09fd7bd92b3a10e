package import Passkeys

/// The settings of a provider of passkeys.
package struct PasskeySettings: Sendable {
    /// The domain and the pages that the passkeys are for.
    package let relyingParty: RelyingParty
    /// Whether every passkey has to verify the person.
    package let requiresVerification: Bool
    /// Whether a response whose counter did not go up is refused; it is reported in any case.
    package let refusesCounterRollback: Bool
    /// The accounts that may be opened.
    package let budget: OpeningBudget

    /// Describes a provider.
    package init(
        relyingParty: RelyingParty, requiresVerification: Bool = false,
        refusesCounterRollback: Bool = true, budget: OpeningBudget = OpeningBudget()
    ) {
        self.relyingParty = relyingParty
        self.requiresVerification = requiresVerification
        self.refusesCounterRollback = refusesCounterRollback
        self.budget = budget
    }

    /// Reads a provider's section of the providers file.
    init(_ object: StrictObject) throws(ProvidersFileFault) {
        try object.allow(
            StrictObject.commonMembers.union(OpeningBudget.members).union([
                "rp_id", "rp_name", "origins", "requires_verification",
                "refuse_counter_rollback",
            ]))
        let id = try object.requiredText("rp_id")
        let party = RelyingParty(
            id: id, name: try object.optionalText("rp_name") ?? id,
            origins: try object.texts("origins"))
        guard let party else {
            throw ProvidersFileFault(
                object.location(of: "rp_id"),
                "must be a domain, and origins of it, its subdomains or Android apps")
        }
        self.init(
            relyingParty: party,
            requiresVerification: try object.optionalFlag("requires_verification") ?? false,
            refusesCounterRollback: try object.optionalFlag("refuse_counter_rollback") ?? true,
            budget: try OpeningBudget(object))
    }
}
