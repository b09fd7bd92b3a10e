package import Cryptography
internal import Encodings
internal import JSON
package import Ledger

/// Issues and reads the tokens between the two steps of a sign-in and of an enrolment; each is used once.
package struct SecondFactorTokens: Sendable {
    /// The lifetime of a sign-in token, in seconds.
    package static let signInSeconds: Int64 = 300
    /// The lifetime of an enrolment token, in seconds.
    package static let enrolmentSeconds: Int64 = 600
    /// The maximum length of a token, in bytes.
    package static let bytesMax = SealedTokens.bytesMax

    private let tokens: SealedTokens

    /// Uses the secret that all processes of the ledger share.
    package init(key secret: SymmetricKey) {
        tokens = SealedTokens(key: secret, label: "second-factor-token")
    }

    /// The first step of a sign-in.
    package struct FirstStep: Sendable {
        package let proof: Proof
        /// The account that needs a second factor.
        package let account: AccountID
        package let token: SingleUseIDToken
    }

    /// Returns the token of a proof that an account accepts together with a second factor.
    package func issue(
        for proof: Proof, of account: AccountID, in tenant: TenantID, at now: Timestamp
    ) -> String {
        tokens.seal(Self.signIn(tenant), until: now.adding(seconds: Self.signInSeconds)) { writer in
            writer.member("account", account.description)
            proof.writeMembers(to: &writer)
        }
    }

    /// Reads a sign-in token.
    ///
    /// - Parameters:
    ///   - text: The token.
    ///   - tenant: The tenant of the request.
    ///   - names: Returns the names of an address.
    ///   - now: The time of the request.
    /// - Returns: nil unless it was issued for the tenant and has not expired.
    package func firstStep(
        _ text: String, in tenant: TenantID, names: (String, AddressKind) -> [AddressName],
        at now: Timestamp
    ) -> FirstStep? {
        guard let (members, token) = tokens.open(text, Self.signIn(tenant), at: now),
            let account = members["account"]?.string.flatMap({ AccountID($0) }),
            let proof = Proof(members, names: names)
        else { return nil }
        return FirstStep(proof: proof, account: account, token: token)
    }

    /// Returns the token of a secret that a caller has not proved yet.
    func issue(
        enrolling secret: [UInt8], for caller: Caller, in tenant: TenantID, at now: Timestamp
    ) -> String {
        tokens.seal(
            Self.enrolment(caller, tenant), until: now.adding(seconds: Self.enrolmentSeconds)
        ) { writer in
            writer.member("secret", Base64URL.encode(secret))
        }
    }

    /// Reads an enrolment token; nil unless it was issued for the caller's session and has not expired.
    func enrolment(
        _ text: String, of caller: Caller, in tenant: TenantID, at now: Timestamp
    ) -> (secret: [UInt8], token: SingleUseIDToken)? {
        guard let (members, token) = tokens.open(text, Self.enrolment(caller, tenant), at: now),
            let secret = members["secret"]?.string.flatMap({ Base64URL.decode($0) })
        else { return nil }
        return (secret, token)
    }

    private static func signIn(_ tenant: TenantID) -> String { "sign-in\0\(tenant)" }

    private static func enrolment(_ caller: Caller, _ tenant: TenantID) -> String {
        "enrolment\0\(tenant)\0\(caller.account)\0\(caller.session)"
    }
}

extension Proof {
    /// Writes the statements of a proof as members of an object.
    ///
    /// It sets no password: a sign-up opens an account, which has no second factor.
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.member("provider", subject.provider.description)
        writer.member("subject", subject.providerID)
        writer.name("at")
        writer.number(authenticatedAt.microseconds)
        writer.member("methods", methods.description)
        writer.member("email", email?.address)
        writer.name("verified")
        writer.flag(email?.isVerified == true)
        writer.member("kind", address?.kind.rawValue)
        writer.member("address", address?.text)
        writer.member("address_id", address?.newID.description)
        writer.member("challenge", challenge?.description)
        writer.member("password_of", password?.identity.description)
        writer.name("password")
        writer.number(password?.version.value ?? 0)
        writer.member("single_use", singleUse?.digest.description)
        writer.name("single_use_until")
        writer.number(singleUse?.expiresAt.microseconds ?? 0)
        writer.member("passkey", passkey?.challenge.digest.description)
        writer.name("passkey_until")
        writer.number(passkey?.challenge.expiresAt.microseconds ?? 0)
        writer.member("passkey_of", passkey?.version?.identity.description)
        writer.name("passkey_version")
        writer.number(passkey?.version?.version.value ?? 0)
        writer.member("passkey_renewed", passkey?.renewed?.hash)
    }

    fileprivate init?(_ members: JSONMembers, names: (String, AddressKind) -> [AddressName]) {
        guard let provider = members["provider"]?.string.flatMap({ ProviderName($0) }),
            let subject = members["subject"]?.string.flatMap({
                Subject(provider: provider, providerID: $0)
            }), let authenticatedAt = members["at"]?.microseconds,
            let methods = members["methods"]?.string.flatMap({ AuthenticationMethods($0) }),
            let version = members["password"]?.integer,
            let singleUseUntil = members["single_use_until"]?.microseconds
        else { return nil }
        var address: ProvedAddress?
        if let kind = members["kind"]?.string.flatMap({ AddressKind(rawValue: $0) }),
            let text = members["address"]?.string,
            let id = members["address_id"]?.string.flatMap({ AddressID($0) })
        {
            let names = names(text, kind)
            guard !names.isEmpty else { return nil }
            address = ProvedAddress(kind: kind, text: text, names: names, newID: id)
        }
        var passkey: PasskeyProof?
        if let digest = members["passkey"]?.string.flatMap({ Digest(base64URL: $0) }),
            let until = members["passkey_until"]?.microseconds,
            let identity = members["passkey_of"]?.string.flatMap({ IdentityID($0) }),
            let version = members["passkey_version"]?.integer
        {
            passkey = PasskeyProof(
                using: PasswordVersion(identity: identity, version: LogPosition(version)),
                renewed: members["passkey_renewed"]?.string.map { NewPassword(hash: $0) },
                challenge: SingleUseIDToken(digest: digest, expiresAt: until))
        }
        self.init(
            subject, authenticatedAt: authenticatedAt, methods: methods,
            email: members["email"]?.string.map {
                Email($0, isVerified: members["verified"] == .bool(true))
            },
            singleUse: members["single_use"]?.string.flatMap { Digest(base64URL: $0) }.map {
                SingleUseIDToken(digest: $0, expiresAt: singleUseUntil)
            }, address: address,
            challenge: members["challenge"]?.string.flatMap { ChallengeID($0) },
            password: members["password_of"]?.string.flatMap { IdentityID($0) }.map {
                PasswordVersion(identity: $0, version: LogPosition(version))
            }, passkey: passkey)
    }
}
