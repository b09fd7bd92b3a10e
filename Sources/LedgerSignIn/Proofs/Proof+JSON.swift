internal import JSON
internal import Ledger

extension Proof {
    /// Writes the statements of a proof as members of an object.
    ///
    /// Without a password or a key to be set: who registers one has no second factor, and no browser flow.
    func writeMembers(to writer: inout JSONWriter) {
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
        writer.member("used_up", usedUp?.digest.description)
        writer.name("used_up_until")
        writer.number(usedUp?.expiresAt.microseconds ?? 0)
        writer.member("passkey_of", passkey?.version?.identity.description)
        writer.name("passkey_version")
        writer.number(passkey?.version?.version.value ?? 0)
        writer.member("passkey_renewed", passkey?.renewed?.hash)
        writer.name("passkey_counts")
        writer.flag(passkey?.comparesCounter != false)
    }

    /// Reads the members that ``writeMembers(to:)`` writes; a token that can be used once takes the place of theirs.
    init?(
        _ members: JSONMembers, usedUp token: SingleUseIDToken? = nil,
        names: (String, AddressKind) -> [AddressName]
    ) {
        guard let provider = members["provider"]?.string.flatMap({ ProviderName($0) }),
            let subject = members["subject"]?.string.flatMap({
                Subject(provider: provider, providerID: $0)
            }), let authenticatedAt = members["at"]?.microseconds,
            let methods = members["methods"]?.string.flatMap({ AuthenticationMethods($0) }),
            let version = members["password"]?.integer,
            let singleUseUntil = members["single_use_until"]?.microseconds,
            let usedUpUntil = members["used_up_until"]?.microseconds
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
        if let identity = members["passkey_of"]?.string.flatMap({ IdentityID($0) }),
            let version = members["passkey_version"]?.integer
        {
            passkey = PasskeyProof(
                using: PasswordVersion(identity: identity, version: LogPosition(version)),
                renewed: members["passkey_renewed"]?.string.map { NewPassword(hash: $0) },
                comparesCounter: members["passkey_counts"] != .bool(false))
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
            }, passkey: passkey,
            usedUp: token
                ?? members["used_up"]?.string.flatMap { Digest(base64URL: $0) }.map {
                    SingleUseIDToken(digest: $0, expiresAt: usedUpUntil)
                })
    }
}
