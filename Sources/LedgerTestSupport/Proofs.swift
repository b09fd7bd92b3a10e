package import Ledger

/// Creates the proof of a subject, by an issuer's word unless the methods are others.
package func proof(
    _ subject: Subject, email: Email? = nil,
    authenticatedAt: Timestamp = Timestamp(seconds: 1_000_000_000),
    methods: AuthenticationMethods = .federated
) -> Proof {
    Proof(subject, authenticatedAt: authenticatedAt, methods: methods, email: email)
}

/// Creates the proof of an e-mail address for the provider `email`.
package func addressProof(
    _ address: String, new: AddressID,
    authenticatedAt: Timestamp = Timestamp(seconds: 1_000_000_000), challenge: ChallengeID? = nil
) -> Proof {
    Proof(
        subject("email", new.description), authenticatedAt: authenticatedAt,
        methods: .oneTimePassword, email: Email(address, isVerified: true),
        address: ProvedAddress(
            kind: .email, text: address,
            names: [
                AddressName(kind: .email, digest: sha256(Array(address.utf8)), key: "key")
            ], newID: new),
        challenge: challenge)
}

/// Creates the proof of a phone number for the provider `phone`.
package func numberProof(
    _ number: String, new: AddressID,
    authenticatedAt: Timestamp = Timestamp(seconds: 1_000_000_000), challenge: ChallengeID? = nil
) -> Proof {
    Proof(
        subject("phone", new.description), authenticatedAt: authenticatedAt,
        methods: .sms, email: nil,
        address: ProvedAddress(
            kind: .phone, text: number,
            names: [AddressName(kind: .phone, digest: sha256(Array(number.utf8)), key: "key")],
            newID: new),
        challenge: challenge)
}

/// Creates the proof of an address with a new password: a claim, or a sign-up whose code was proved.
package func passwordProof(
    _ address: String, new: AddressID, hash: String, isClaim: Bool, challenge: ChallengeID? = nil
) -> Proof {
    let proved = addressProof(address, new: new)
    return Proof(
        subject("password", new.description), authenticatedAt: proved.authenticatedAt,
        methods: .password, email: Email(address, isVerified: !isClaim), address: proved.address,
        challenge: challenge, newPassword: NewPassword(hash: hash), isClaim: isClaim)
}

extension Credential {
    /// Creates a credential that proves a subject, or an invalid one of the subject's provider.
    package init(
        _ subject: Subject, email: Email? = nil, digest: Digest, isInvalid: Bool = false
    ) {
        self.init(
            provider: subject.provider, digest: digest,
            check: isInvalid
                ? .failure(.invalid)
                : .success(LedgerTestSupport.proof(subject, email: email)))
    }
}

/// Creates the proof of a known password of an address; with a challenge, of the address as well.
package func passwordProof(
    _ address: String, new: AddressID, _ version: PasswordVersion, isVerified: Bool = true,
    challenge: ChallengeID? = nil
) -> Proof {
    let proved = addressProof(address, new: new)
    return Proof(
        subject("password", new.description), authenticatedAt: proved.authenticatedAt,
        methods: .password, email: Email(address, isVerified: isVerified), address: proved.address,
        challenge: challenge, password: version)
}

/// Creates the proof of a new passkey that verified its user.
package func registration(of key: String, _ generator: inout SeededGenerator) -> Proof {
    Proof(
        subject("passkey", key), authenticatedAt: Timestamp(seconds: 1),
        methods: .verifyingPasskey, email: nil,
        passkey: PasskeyProof(registering: NewPassword(passkey: key, count: 1)),
        usedUp: SingleUseIDToken(
            digest: digest(generator.bytes(32)),
            expiresAt: Timestamp(seconds: 4_000_000_000)))
}

extension SignIn {
    /// Creates a sign-in with a proof.
    package init(
        _ proof: Proof, createAccount: Bool = true, _ generator: inout SeededGenerator
    ) {
        self.init(
            proof, createAccount: createAccount, refreshToken: digest(generator.bytes(32)),
            newAccount: generator.id(), newIdentity: generator.id(), newSession: generator.id())
    }

    /// Creates a sign-in with an e-mail address.
    package init(
        address: String, challenge: ChallengeID? = nil, _ generator: inout SeededGenerator
    ) {
        self.init(
            addressProof(
                address, new: generator.id(), challenge: challenge),
            createAccount: true, refreshToken: digest(generator.bytes(32)),
            newAccount: generator.id(), newIdentity: generator.id(), newSession: generator.id())
    }

    /// Creates a sign-up with an e-mail address and the hash of a password.
    package init(
        address: String, password hash: String, _ generator: inout SeededGenerator
    ) {
        let proved = addressProof(address, new: generator.id())
        self.init(
            Proof(
                subject("password", proved.subject.providerID),
                authenticatedAt: proved.authenticatedAt, methods: .password, email: proved.email,
                address: proved.address, newPassword: NewPassword(hash: hash)),
            createAccount: true, refreshToken: digest(generator.bytes(32)),
            newAccount: generator.id(), newIdentity: generator.id(), newSession: generator.id())
    }
}

extension EnrolFactor {
    /// Creates an enrolment whose secret is the bytes of its id, proved at time step 41.
    package init(
        _ kind: FactorKind = .totp, by caller: Caller,
        passkey: (subject: Subject, domain: String)? = nil, _ generator: inout SeededGenerator
    ) {
        let factor: FactorID = generator.id()
        self.init(
            caller: caller,
            factor: NewFactor(
                id: factor, kind: kind, secret: Array("\(factor)".utf8),
                counter: kind == .totp ? 41 : 0, passkey: passkey),
            recoveryCodes: NewFactor(
                id: generator.id(), kind: .recoveryCodes, secret: generator.bytes(320), counter: 0),
            token: nil, refreshToken: digest(generator.bytes(32)), newSession: generator.id())
    }
}

extension SignIn {
    /// Creates the second step of a sign-in; without a counter, with a wrong code.
    package init(
        _ proof: Proof, of account: AccountID, factor: FactorID, counter: Int64?,
        _ generator: inout SeededGenerator
    ) {
        self.init(
            proof,
            secondFactor: SecondFactorProof(
                token: SingleUseIDToken(
                    digest: digest(generator.bytes(32)),
                    expiresAt: Timestamp(seconds: 4_000_000_000)),
                account: account,
                use: counter.map { FactorUse(factor: factor, counter: $0) }),
            createAccount: false, refreshToken: digest(generator.bytes(32)),
            newAccount: generator.id(), newIdentity: generator.id(), newSession: generator.id())
    }
}
