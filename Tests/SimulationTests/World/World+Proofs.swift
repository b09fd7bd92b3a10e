import Ledger
import LedgerTestSupport

extension World {
    /// The domain of every passkey.
    static let passkeyDomain = "example.com"

    static func number(_ number: Int) -> String { "+49151234567\(number)" }

    /// Returns the subject whose name is an e-mail address or a phone number.
    static func addressSubject(_ text: String) -> Subject {
        let provider = text.hasPrefix("+") ? RandomCommands.phone : RandomCommands.email
        return subject(provider.description, text)
    }

    /// Returns the names of an e-mail address or a phone number.
    static func names(of text: String, new: AddressID) -> [AddressName] {
        let proof =
            addressSubject(text).provider == RandomCommands.phone
            ? numberProof(text, new: new) : addressProof(text, new: new)
        return proof.address?.names ?? []
    }

    /// Returns the proof of a subject, or of the address that its name is.
    ///
    /// Then it answers a challenge, often one that another command answers at the same time.
    func proof(
        _ named: Subject, email: Email? = nil,
        authenticatedAt: Timestamp = Timestamp(seconds: 1_000_000_000),
        methods: AuthenticationMethods = .federated, in tenant: TenantID
    ) -> Proof {
        switch named.provider {
        case RandomCommands.email:
            addressProof(
                named.providerID, new: dice.id(), authenticatedAt: authenticatedAt,
                challenge: challenge(in: tenant))
        case RandomCommands.phone:
            numberProof(
                named.providerID, new: dice.id(), authenticatedAt: authenticatedAt,
                challenge: challenge(in: tenant))
        case RandomCommands.password: passwordProof(of: named.providerID, in: tenant)
        case RandomCommands.passkey:
            Proof(
                named, authenticatedAt: authenticatedAt,
                methods: dice.chance(0.7) ? .passkey : .verifyingPasskey, email: nil,
                passkey: passkeyProof(named, in: tenant))
        default:
            LedgerTestSupport.proof(
                named, email: email, authenticatedAt: authenticatedAt, methods: methods)
        }
    }

    /// Returns a claim, the proof of a sign-up, or that of the password that an address has, often with a code.
    private func passwordProof(of address: String, in tenant: TenantID) -> Proof {
        let rows = database.tenants[tenant]
        let name = addressProof(address, new: AddressID(bits: 0)).address?.names.first
        let held = name.flatMap { rows?.addresses[$0] }
        let identity = held.flatMap {
            rows?.identities[subject(RandomCommands.password.description, $0.id.description)]
        }
        if let identity, let version = rows?.passwords[identity.id], dice.chance(0.5) {
            let isConfirmed = dice.chance(0.6)
            return LedgerTestSupport.passwordProof(
                address, new: dice.id(),
                PasswordVersion(identity: identity.id, version: version), isVerified: isConfirmed,
                challenge: isConfirmed ? challenge(in: tenant) : nil)
        }
        let isClaim = dice.chance(0.7)
        return LedgerTestSupport.passwordProof(
            address, new: dice.id(), hash: "hash", isClaim: isClaim,
            challenge: isClaim ? nil : challenge(in: tenant))
    }

    /// Returns a challenge that was sent, often one that another command answers at the same time.
    private func challenge(in tenant: TenantID) -> ChallengeID {
        let earlier = database.tenants[tenant]?.challenges.sorted() ?? []
        if !earlier.isEmpty, dice.chance(0.3) { return earlier.randomElement(dice) }
        let challenge: ChallengeID = dice.id()
        database.open(challenge, in: tenant)
        return challenge
    }

    /// Returns the use of a key that is linked, often one that another command presents as well, or a registration.
    private func passkeyProof(_ key: Subject, in tenant: TenantID) -> PasskeyProof {
        let rows = database.tenants[tenant]
        guard let identity = rows?.identities[key]?.id, let version = rows?.passwords[identity],
            !dice.chance(0.2)
        else {
            return PasskeyProof(
                registering: NewPassword(passkey: "key", count: UInt32(dice.number(0...1))))
        }
        let count = (rows?.passkeyCounts[identity] ?? 0) + UInt32(dice.number(0...2))
        return PasskeyProof(
            using: PasswordVersion(identity: identity, version: version),
            renewed: count == 0 ? nil : NewPassword(passkey: "key", count: count))
    }

    /// Returns a new factor; its secret plays no part here.
    func factor(_ kind: FactorKind) -> NewFactor {
        guard kind == .passkey else {
            return NewFactor(id: dice.id(), kind: kind, secret: [], counter: 0)
        }
        let key = "s\(dice.number(1...parameters.subjectsPerProvider))"
        return NewFactor(
            id: dice.id(), kind: kind, secret: [], counter: Int64(dice.number(0...1)),
            passkey: (
                subject: subject(RandomCommands.passkey.description, key),
                domain: Self.passkeyDomain
            ))
    }

    /// Returns the second step of a sign-in: sometimes a wrong code, or one that was used before.
    func secondFactor(of account: AccountID, in tenant: TenantID) -> SecondFactorProof {
        let known = (database.tenants[tenant]?.heldFactors ?? [:]).values
            .filter { $0.factor.holder == account }.sorted { $0.factor.id < $1.factor.id }
        var use: FactorUse?
        if !known.isEmpty, !dice.chance(0.2) {
            let row = known.randomElement(dice)
            use = FactorUse(
                factor: row.factor.id,
                counter: row.factor.kind == .recoveryCodes
                    ? Int64(dice.number(0...3)) : row.counter + Int64(dice.number(0...2)))
        }
        return SecondFactorProof(
            token: SingleUseIDToken(
                digest: dice.digest(), expiresAt: database.now.adding(seconds: 300)),
            account: account, use: use)
    }
}
