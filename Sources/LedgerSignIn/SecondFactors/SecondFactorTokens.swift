package import Cryptography
internal import Encodings
internal import JSON
package import Ledger

/// Issues and reads the tokens between the two steps of a sign-in and of an enrolment.
///
/// A token is base64url of JSON, encrypted and authenticated by AES-256-GCM together with its purpose and its owner.
/// Nothing is stored until it is used, which it is once.
package struct SecondFactorTokens: Sendable {
    /// The lifetime of a sign-in token, in seconds.
    package static let signInSeconds: Int64 = 300
    /// The lifetime of an enrolment token, in seconds.
    package static let enrolmentSeconds: Int64 = 600
    /// The maximum length of a token, in bytes.
    package static let bytesMax = 4096

    private static let label = Array("second-factor-token".utf8)

    private let key: SymmetricKey
    private let digests: HMACKey

    /// Uses the secret that all processes of the ledger share.
    package init(key secret: SymmetricKey) {
        digests = HMACKey(secret)
        guard let key = SymmetricKey(bytes: digests.mac(of: Self.label)) else {
            preconditionFailure("a MAC has the length of a key")
        }
        self.key = key
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
        seal(Self.signIn(tenant)) { writer in
            writer.member("account", account.description)
            writer.name("until")
            writer.number(now.adding(seconds: Self.signInSeconds).microseconds)
            proof.writeMembers(to: &writer)
        }
    }

    /// Reads a sign-in token; nil unless it was issued for the tenant and has not expired.
    ///
    /// - Parameters:
    ///   - text: The token.
    ///   - tenant: The tenant of the request.
    ///   - names: Returns the names of an address.
    ///   - now: The time of the request.
    package func firstStep(
        _ text: String, in tenant: TenantID, names: (String, AddressKind) -> [AddressName],
        at now: Timestamp
    ) -> FirstStep? {
        guard let (members, token) = open(text, Self.signIn(tenant), at: now),
            let account = members["account"]?.string.flatMap({ AccountID($0) }),
            let proof = Proof(members, names: names)
        else { return nil }
        return FirstStep(proof: proof, account: account, token: token)
    }

    /// Returns the token of a secret that a caller has not proved yet.
    func issue(
        enrolling secret: [UInt8], as factor: FactorID, for caller: Caller, in tenant: TenantID,
        at now: Timestamp
    ) -> String {
        seal(Self.enrolment(caller, tenant)) { writer in
            writer.member("factor", factor.description)
            writer.member("secret", Base64URL.encode(secret))
            writer.name("until")
            writer.number(now.adding(seconds: Self.enrolmentSeconds).microseconds)
        }
    }

    /// Reads an enrolment token; nil unless it was issued for the caller's session and has not expired.
    func enrolment(
        _ text: String, of caller: Caller, in tenant: TenantID, at now: Timestamp
    ) -> (factor: FactorID, secret: [UInt8], token: SingleUseIDToken)? {
        guard let (members, token) = open(text, Self.enrolment(caller, tenant), at: now),
            let factor = members["factor"]?.string.flatMap({ FactorID($0) }),
            let secret = members["secret"]?.string.flatMap({ Base64URL.decode($0) })
        else { return nil }
        return (factor, secret, token)
    }

    private func seal(_ context: [UInt8], _ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter(reserving: 512)
        writer.object(body)
        return Base64URL.encode(AESGCM.seal(writer.bytes, key: key, additional: context))
    }

    private func open(
        _ text: String, _ context: [UInt8], at now: Timestamp
    ) -> (members: JSONMembers, token: SingleUseIDToken)? {
        guard text.utf8.count <= Self.bytesMax, let box = Base64URL.decode(text),
            let plaintext = AESGCM.open(box, key: key, additional: context),
            let members = JSONValue(parsing: plaintext)?.members,
            let until = members["until"]?.microseconds, now < until,
            let digest = Digest(digests.mac(of: Self.label + [0] + box))
        else { return nil }
        return (members, SingleUseIDToken(digest: digest, expiresAt: until))
    }

    private static func signIn(_ tenant: TenantID) -> [UInt8] {
        Array("sign-in\0\(tenant)".utf8)
    }

    private static func enrolment(_ caller: Caller, _ tenant: TenantID) -> [UInt8] {
        Array("enrolment\0\(tenant)\0\(caller.account)\0\(caller.session)".utf8)
    }
}

extension Proof {
    /// Writes what a proof states, as members of an object.
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
            })
    }
}

extension JSONValue {
    fileprivate var microseconds: Timestamp? {
        integer.map { Timestamp(microseconds: $0) }
    }
}
