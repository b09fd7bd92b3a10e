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

    /// Returns a new factor; its secret plays no part here.
    func factor(_ kind: FactorKind) -> NewFactor {
        NewFactor(id: dice.id(), kind: kind, secret: [], counter: 0)
    }

    /// Returns the second step of a sign-in: sometimes a wrong code, or one that was used before.
    func secondFactor(of account: AccountID, in tenant: TenantID) -> SecondFactorProof {
        let known = (database.tenants[tenant]?.factors ?? [:]).values
            .filter { $0.factor.account == account }.sorted { $0.factor.id < $1.factor.id }
        var use: FactorUse?
        if !known.isEmpty, !dice.chance(0.2) {
            let row = known.randomElement(dice)
            use = FactorUse(
                factor: row.factor.id,
                counter: row.factor.kind == .totp
                    ? row.counter + Int64(dice.number(0...2)) : Int64(dice.number(0...3)))
        }
        return SecondFactorProof(
            token: SingleUseIDToken(
                digest: dice.digest(), expiresAt: database.now.adding(seconds: 300)),
            account: account, use: use)
    }
}
