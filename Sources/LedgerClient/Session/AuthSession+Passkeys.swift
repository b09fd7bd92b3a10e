/// The use of a passkey that is to be made.
public enum PasskeyCreation: Hashable, Sendable {
    /// To open an account, by a sign-in with ``Proof/passkey(_:)``.
    case signUp
    /// To link it, with the same proof.
    case link
    /// To enrol it as a second factor, by ``FactorConfirmation/passkey(_:)``.
    case secondFactor
}

/// The use of a passkey that an authenticator has.
public enum PasskeyUse: Hashable, Sendable {
    /// To sign in.
    case signIn
    /// To show a merge with the account of another passkey.
    case mergePreview
    /// To agree to a merge as a plan shows it.
    case merge(MergePlan)
    /// To complete a sign-in.
    case secondFactor(SecondFactor)
}

extension AuthSession {
    /// Makes a passkey: begins the ceremony and lets an authenticator respond.
    ///
    /// - Parameters:
    ///   - use: The use of the passkey. All but a sign-up need a session.
    ///   - provider: The name of a provider of type `passkey`; without meaning for a second factor.
    ///   - userName: The name by which the authenticator lists the passkey, such as an e-mail address; the ledger does not
    ///     store it.
    ///   - displayName: The name of the person; the ledger does not store it.
    ///   - authenticator: Makes the passkey.
    /// - Returns: The proof, which is good for one call.
    /// - Throws: ``LedgerError/Code/unsupportedProvider``, ``LedgerError/Code/cancelledByPerson``,
    ///   ``LedgerError/Code/authenticatorFailed``.
    public func makePasskey(
        _ use: PasskeyCreation, at provider: String = "passkey", userName: String? = nil,
        displayName: String? = nil, with authenticator: any PasskeyAuthenticator
    ) async throws(LedgerError) -> PasskeyCredential {
        let challenge = try await beginPasskey(
            use, at: provider, userName: userName, displayName: displayName)
        do {
            return challenge.answered(by: try await authenticator.make(challenge.options))
        } catch {
            throw error.ledgerError
        }
    }

    /// Uses a passkey: begins the ceremony and lets an authenticator respond.
    ///
    /// - Parameters:
    ///   - use: The use of the proof. A merge needs a session, a second factor a sign-in that waits for it.
    ///   - provider: The name of a provider of type `passkey`; without meaning for a second factor.
    ///   - authenticator: Uses the passkey.
    /// - Returns: The proof, which is good for one call.
    /// - Throws: As ``makePasskey(_:at:userName:displayName:with:)``, and for a second factor
    ///   ``LedgerError/Code/noSession`` or ``LedgerError/Code/invalidCode``.
    public func usePasskey(
        _ use: PasskeyUse, at provider: String = "passkey",
        with authenticator: any PasskeyAuthenticator
    ) async throws(LedgerError) -> PasskeyCredential {
        let challenge = try await beginPasskey(use, at: provider)
        do {
            return challenge.answered(by: try await authenticator.use(challenge.options))
        } catch {
            throw error.ledgerError
        }
    }

    /// Begins the ceremony that makes a passkey, for an app that calls the authenticator itself.
    ///
    /// - Parameters:
    ///   - use: The use of the passkey.
    ///   - provider: The name of a provider of type `passkey`; without meaning for a second factor.
    ///   - userName: The name by which the authenticator lists the passkey.
    ///   - displayName: The name of the person.
    /// - Returns: The challenge, which its response answers.
    /// - Throws: ``LedgerError/Code/unsupportedProvider``.
    public func beginPasskey(
        _ use: PasskeyCreation, at provider: String = "passkey", userName: String? = nil,
        displayName: String? = nil
    ) async throws(LedgerError) -> PasskeyChallenge<PasskeyCreationOptions> {
        var body: [String: BodyValue] = [:]
        if let userName { body["user_name"] = .text(userName) }
        if let displayName { body["display_name"] = .text(displayName) }
        return try await acting {
            [body] keeper, shown throws(LedgerError) -> PasskeyChallenge<PasskeyCreationOptions> in
            switch use {
            case .signUp:
                return try await keeper.sender.send(
                    APICall(route: .createPasskey, segments: [provider], body: body),
                    as: PasskeyChallenge.self)
            case .link:
                return try await keeper.send(
                    APICall(route: .createAccountPasskey, segments: [provider], body: body),
                    as: PasskeyChallenge.self, for: shown)
            case .secondFactor:
                return try await keeper.send(
                    APICall(route: .createPasskeyFactor, body: body), as: PasskeyChallenge.self,
                    for: shown)
            }
        }
    }

    /// Begins the ceremony that uses a passkey, for an app that calls the authenticator itself.
    ///
    /// - Parameters:
    ///   - use: The use of the proof.
    ///   - provider: The name of a provider of type `passkey`; without meaning for a second factor.
    /// - Returns: The challenge, which its response answers.
    /// - Throws: ``LedgerError/Code/unsupportedProvider``, and for a second factor ``LedgerError/Code/noSession`` or
    ///   ``LedgerError/Code/invalidCode``.
    public func beginPasskey(
        _ use: PasskeyUse, at provider: String = "passkey"
    ) async throws(LedgerError) -> PasskeyChallenge<PasskeyRequestOptions> {
        try await acting {
            keeper, shown throws(LedgerError) -> PasskeyChallenge<PasskeyRequestOptions> in
            switch use {
            case .signIn:
                return try await keeper.sender.send(
                    APICall(route: .getPasskey, segments: [provider], body: [:]),
                    as: PasskeyChallenge.self)
            case .mergePreview:
                return try await keeper.mergePasskey(at: provider, [:], for: shown)
            case .merge(let plan):
                return try await keeper.mergePasskey(
                    at: provider, ["plan_digest": .text(plan.digest)], for: shown)
            case .secondFactor(let factor):
                return try await keeper.sender.send(
                    APICall(
                        route: .secondFactorPasskey, body: try await keeper.secondStep(of: factor)
                    ), as: PasskeyChallenge.self)
            }
        }
    }

    /// Completes a sign-in that needs a second factor by a passkey.
    ///
    /// - Parameters:
    ///   - factor: The one of the challenge's factors for which the passkey was used.
    ///   - credential: The response, by ``usePasskey(_:at:with:)``.
    /// - Returns: The sign-in.
    /// - Throws: As ``completeSecondFactor(_:code:sent:)``.
    @discardableResult
    public func completeSecondFactor(
        _ factor: SecondFactor, passkey credential: PasskeyCredential
    ) async throws(LedgerError) -> SignIn {
        try await completeSecondFactor(factor, credential.body)
    }

    /// Names a passkey, so that its holder tells it from others.
    ///
    /// - Parameters:
    ///   - identity: The id of the identity.
    ///   - name: The name, of 1 to 64 characters.
    /// - Returns: The account.
    /// - Throws: ``LedgerError/Code/invalidRequest``, ``LedgerError/Code/providerNotLinked``.
    @discardableResult
    public func nameIdentity(
        _ identity: String, _ name: String
    ) async throws(LedgerError) -> Profile {
        try await changeAccount(
            APICall(route: .nameIdentity, segments: [identity], body: ["name": .text(name)]))
    }

    /// Stops an unlink that support planned: ``Identity/unlinkDue``.
    ///
    /// - Parameter identity: The id of the identity.
    /// - Returns: The account.
    /// - Throws: ``LedgerError/Code/providerNotLinked``, also without a planned unlink.
    @discardableResult
    public func keepIdentity(_ identity: String) async throws(LedgerError) -> Profile {
        try await changeAccount(
            APICall(route: .keepIdentity, segments: [identity], body: [:]))
    }

    /// Sends a call whose answer is the account.
    private func changeAccount(_ call: APICall) async throws(LedgerError) -> Profile {
        try await acting { keeper, shown throws(LedgerError) in
            try await Self.profile(keeper, shown, call)
        }
    }
}

extension SessionKeeper {
    fileprivate func mergePasskey(
        at provider: String, _ body: [String: BodyValue], for subject: CallSubject
    ) async throws(LedgerError) -> PasskeyChallenge<PasskeyRequestOptions> {
        try await send(
            APICall(route: .getAccountPasskey, segments: [provider], body: body),
            as: PasskeyChallenge.self, for: subject)
    }
}
