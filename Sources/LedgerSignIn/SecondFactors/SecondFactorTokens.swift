package import Cryptography
internal import Encodings
internal import JSON
package import Ledger

/// Issues and reads the tokens between the two steps of a sign-in and of an enrolment; each is used once.
package struct SecondFactorTokens: Sendable {
    /// The lifetime of a sign-in token, in seconds.
    package static let signInSeconds = SealedTokens.firstStepSeconds
    /// The lifetime of an enrolment token, in seconds.
    package static let enrolmentSeconds: Int64 = 600
    /// The maximum length of a token, in bytes.
    package static let bytesMax = SealedTokens.bytesMax

    private let tokens: SealedTokens

    /// Uses the secret that all processes of the ledger share, and the times of the last accepted restores.
    package init(key secret: SymmetricKey, restores: [TenantID: Timestamp] = [:]) {
        tokens = SealedTokens(key: secret, label: "second-factor-token", restores: restores)
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
        tokens.seal(
            Self.signIn(tenant), in: tenant, until: now.adding(seconds: Self.signInSeconds)
        ) { writer in
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
        guard let (members, token) = tokens.open(text, Self.signIn(tenant), in: tenant, at: now),
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
            Self.enrolment(caller, tenant), in: tenant,
            until: now.adding(seconds: Self.enrolmentSeconds)
        ) { writer in
            writer.member("secret", Base64URL.encode(secret))
        }
    }

    /// Reads an enrolment token; nil unless it was issued for the caller's session and has not expired.
    func enrolment(
        _ text: String, of caller: Caller, in tenant: TenantID, at now: Timestamp
    ) -> (secret: [UInt8], token: SingleUseIDToken)? {
        guard
            let (members, token) = tokens.open(
                text, Self.enrolment(caller, tenant), in: tenant, at: now),
            let secret = members["secret"]?.string.flatMap({ Base64URL.decode($0) })
        else { return nil }
        return (secret, token)
    }

    private static func signIn(_ tenant: TenantID) -> String { "sign-in\0\(tenant)" }

    private static func enrolment(_ caller: Caller, _ tenant: TenantID) -> String {
        "enrolment\0\(tenant)\0\(caller.account)\0\(caller.session)"
    }
}
