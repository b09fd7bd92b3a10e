import Ledger
import LedgerTestSupport

extension World {
    /// Returns the proof of a subject, or of the address that its name is.
    ///
    /// Then it answers a challenge, often one that another command answers at the same time.
    func proof(
        _ named: Subject, email: Email? = nil,
        authenticatedAt: Timestamp = Timestamp(seconds: 1_000_000_000),
        methods: AuthenticationMethods = .federated, in tenant: TenantID
    ) -> Proof {
        guard named.provider == RandomCommands.email else {
            return LedgerTestSupport.proof(
                named, email: email, authenticatedAt: authenticatedAt, methods: methods)
        }
        let earlier = database.tenants[tenant]?.challenges.sorted() ?? []
        let challenge: ChallengeID
        if !earlier.isEmpty, dice.chance(0.3) {
            challenge = earlier.randomElement(dice)
        } else {
            challenge = dice.id()
            database.open(challenge, in: tenant)
        }
        return addressProof(
            named.providerID, new: dice.id(), authenticatedAt: authenticatedAt,
            challenge: challenge)
    }
}
