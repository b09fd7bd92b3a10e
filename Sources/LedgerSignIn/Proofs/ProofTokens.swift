package import Cryptography
internal import Encodings
internal import JSON
package import Ledger

/// Issues and reads proof tokens: proofs that a link or the preview of a merge did not use up, sealed for the client
/// that made them.
///
/// A token is the base64url form of the proof, encrypted and authenticated by AES-256-GCM together with tenant and
/// provider. It signs in once, to the account that holds the identity, or previews a merge; the command checks
/// again whatever could have changed.
package struct ProofTokens: Sendable {
    /// The lifetime of a token, in seconds.
    package static let lifetimeSeconds: Int64 = 600
    /// The maximum length of a token, in bytes.
    package static let bytesMax = 4096

    private static let label = Array("proof-token".utf8)

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

    /// Returns the token of a proof; nil for one that sets a password, whose code proves the address alone.
    package func issue(for proof: Proof, in tenant: TenantID, at now: Timestamp) -> String? {
        guard proof.newPassword == nil else { return nil }
        var writer = JSONWriter(reserving: 512)
        writer.object { writer in
            writer.name("until")
            writer.number(now.adding(seconds: Self.lifetimeSeconds).microseconds)
            writer.member("subject", proof.subject.providerID)
            writer.name("at")
            writer.number(proof.authenticatedAt.microseconds)
            writer.member("methods", proof.methods.description)
            writer.member("email", proof.email?.address)
            writer.name("verified")
            writer.flag(proof.email?.isVerified == true)
            writer.member("kind", proof.address?.kind.rawValue)
            writer.member("address", proof.address?.text)
            writer.member("address_id", proof.address?.newID.description)
            writer.member("challenge", proof.challenge?.description)
            writer.member("password_of", proof.password?.identity.description)
            if let version = proof.password?.version.value {
                writer.name("password")
                writer.number(version)
            }
        }
        let token = Base64URL.encode(
            AESGCM.seal(
                writer.bytes, key: key, additional: Self.context(proof.subject.provider, tenant)))
        return token.utf8.count <= Self.bytesMax ? token : nil
    }

    /// Reads a token from a client.
    ///
    /// - Parameters:
    ///   - text: The token.
    ///   - provider: The provider of the request.
    ///   - tenant: The tenant of the request.
    ///   - names: Returns the names of an address.
    ///   - now: The time of the request.
    /// - Returns: The proof, which opens one session only.
    /// - Throws: `invalid` unless it was issued for this provider and has not expired.
    package func proof(
        _ text: String, of provider: ProviderName, in tenant: TenantID,
        names: (String, AddressKind) -> [AddressName],
        at now: Timestamp
    ) throws(Credential.Flaw) -> Proof {
        guard text.utf8.count <= Self.bytesMax, let box = Base64URL.decode(text),
            let plaintext = AESGCM.open(
                box, key: key, additional: Self.context(provider, tenant)),
            let members = JSONValue(parsing: plaintext)?.members,
            let until = members["until"]?.microseconds, now < until,
            let subject = members["subject"]?.string.flatMap({
                Subject(provider: provider, providerID: $0)
            }), let authenticatedAt = members["at"]?.microseconds,
            let methods = members["methods"]?.string.flatMap({ AuthenticationMethods($0) }),
            let digest = Digest(digests.mac(of: Self.label + [0] + Array(text.utf8)))
        else { throw .invalid }
        return Proof(
            subject, authenticatedAt: authenticatedAt, methods: methods,
            email: members["email"]?.string.map {
                Email($0, isVerified: members["verified"] == .bool(true))
            }, singleUse: SingleUseIDToken(digest: digest, expiresAt: until),
            address: Self.address(members, names),
            challenge: members["challenge"]?.string.flatMap { ChallengeID($0) },
            password: Self.password(members))
    }

    private static func address(
        _ members: JSONMembers, _ names: (String, AddressKind) -> [AddressName]
    ) -> ProvedAddress? {
        guard let kind = members["kind"]?.string.flatMap({ AddressKind(rawValue: $0) }),
            let text = members["address"]?.string,
            let id = members["address_id"]?.string.flatMap({ AddressID($0) })
        else { return nil }
        return ProvedAddress(
            kind: kind, text: text, names: names(text, kind), newID: id)
    }

    private static func password(_ members: JSONMembers) -> PasswordVersion? {
        guard let identity = members["password_of"]?.string.flatMap({ IdentityID($0) }),
            let version = members["password"]?.integer
        else { return nil }
        return PasswordVersion(identity: identity, version: LogPosition(version))
    }

    private static func context(_ provider: ProviderName, _ tenant: TenantID) -> [UInt8] {
        Array("\(tenant)\0\(provider)".utf8)
    }
}

extension JSONValue {
    fileprivate var microseconds: Timestamp? {
        integer.map { Timestamp(microseconds: $0) }
    }
}
