extension AuthSession {
    /// Signs in, and opens an account if the identity has none.
    ///
    /// It is not repeated after a lost answer, because a second one would not tell that the account is new.
    ///
    /// - Parameters:
    ///   - provider: The name of the provider.
    ///   - proof: The proof.
    ///   - createsAccount: Whether an account may be opened.
    /// - Returns: The sign-in, or the second step that it needs.
    /// - Throws: ``LedgerError/Code/invalidProviderToken``, ``LedgerError/Code/invalidCode``,
    ///   ``LedgerError/Code/invalidPassword``, ``LedgerError/Code/accountNotFound``,
    ///   ``LedgerError/Code/accountDisabled``, ``LedgerError/Code/addressUnused`` or
    ///   ``LedgerError/Code/rateLimited``.
    @discardableResult
    public func signIn(
        at provider: String, with proof: Proof, createsAccount: Bool = true
    ) async throws(LedgerError) -> SignInResult {
        try await following { keeper throws(LedgerError) in
            var body = proof.body
            if !createsAccount { body["create_account"] = .flag(false) }
            if proof.usesDeviceToken { body["device_token"] = await keeper.deviceToken() }
            return try await keeper.signIn(
                APICall(route: .signIn, segments: [provider], body: body))
        }
    }

    /// Completes a sign-in that needs a second factor.
    ///
    /// - Parameters:
    ///   - factor: One of the challenge's factors.
    ///   - code: The code of an authenticator app, or a recovery code.
    ///   - sent: The code that ``sendSecondFactorCode(to:)`` has sent, for a phone.
    /// - Returns: The sign-in.
    /// - Throws: ``LedgerError/Code/invalidCode``, ``LedgerError/Code/rateLimited``, or
    ///   ``LedgerError/Code/noSession`` if no sign-in waits for a second factor, or no longer when the answer comes.
    @discardableResult
    public func completeSecondFactor(
        _ factor: SecondFactor, code: String, sent: SentCode? = nil
    ) async throws(LedgerError) -> SignIn {
        var proof: [String: BodyValue] = ["code": .text(code)]
        if let sent { proof["challenge_id"] = .text(sent.challengeID) }
        return try await completeSecondFactor(factor, proof)
    }

    /// Sends a second step with the members of its proof.
    func completeSecondFactor(
        _ factor: SecondFactor, _ proof: [String: BodyValue]
    ) async throws(LedgerError) -> SignIn {
        try await following { keeper throws(LedgerError) in
            let body = try await keeper.secondStep(of: factor).merging(proof) { $1 }
            let result = try await keeper.signIn(APICall(route: .secondFactor, body: body))
            guard case .signedIn(let signIn) = result else {
                throw LedgerError(.unexpectedAnswer, message: "A third step is asked for")
            }
            return signIn
        }
    }

    /// Sends the code of a phone that is a second factor.
    ///
    /// - Parameter factor: One of the challenge's factors.
    /// - Returns: The challenge of the code.
    /// - Throws: ``LedgerError/Code/invalidCode`` if the first step is too old, ``LedgerError/Code/rateLimited``.
    public func sendSecondFactorCode(
        to factor: SecondFactor
    ) async throws(LedgerError) -> SentCode {
        try await following { keeper throws(LedgerError) in
            try await keeper.sender.send(
                APICall(route: .secondFactorCode, body: keeper.secondStep(of: factor)),
                as: SentCode.self)
        }
    }

    /// Abandons a sign-in that waits for its second factor: the state is the one before it.
    public func cancelSecondFactor() async {
        await keeper.dropChallenge()
        try? await start()
    }

    /// Sends a code to sign in with, by ``Proof/code(_:_:)``, or by
    /// ``Proof/passwordWithCode(email:password:_:code:)``.
    ///
    /// - Parameters:
    ///   - address: The e-mail address, or the phone number with its country code.
    ///   - provider: The name of a provider of type `email` or `phone`, or of type `password`.
    /// - Returns: The challenge of the code.
    /// - Throws: ``LedgerError/Code/invalidRequest`` for a text that is no address, ``LedgerError/Code/rateLimited``.
    public func sendCode(
        to address: String, by provider: String
    ) async throws(LedgerError) -> SentCode {
        try await following { keeper throws(LedgerError) in
            var body: [String: BodyValue] = ["address": .text(address)]
            body["device_token"] = await keeper.deviceToken()
            return try await keeper.sender.send(
                APICall(route: .sendCode, segments: [provider], body: body), as: SentCode.self)
        }
    }

    /// Begins an account with a password, which a sign-in with ``Proof/code(_:_:)`` finishes.
    ///
    /// A tenant may open the account at once; the sign-in with the code then confirms the address.
    ///
    /// - Parameters:
    ///   - email: The address to which the code is sent.
    ///   - password: The new password.
    ///   - provider: The name of a provider of type `password`.
    /// - Returns: The challenge of the code, or the sign-in.
    /// - Throws: ``LedgerError/Code/weakPassword``, ``LedgerError/Code/rateLimited``.
    public func signUp(
        email: String, password: String, at provider: String = "password"
    ) async throws(LedgerError) -> SignUpResult {
        try await following { keeper throws(LedgerError) in
            try await keeper.signUp(
                APICall(
                    route: .signUp, segments: [provider],
                    body: ["email": .text(email), "password": .text(password)]))
        }
    }

    /// Sends the code that replaces a forgotten password, if an account has one with this address.
    ///
    /// - Parameters:
    ///   - email: The address.
    ///   - provider: The name of a provider of type `password`.
    /// - Returns: The challenge of the code.
    /// - Throws: ``LedgerError/Code/rateLimited``.
    public func sendPasswordReset(
        email: String, at provider: String = "password"
    ) async throws(LedgerError) -> SentCode {
        try await following { keeper throws(LedgerError) in
            var body: [String: BodyValue] = ["email": .text(email)]
            body["device_token"] = await keeper.deviceToken()
            return try await keeper.sender.send(
                APICall(route: .resetPassword, segments: [provider], body: body),
                as: SentCode.self)
        }
    }

    /// Replaces a forgotten password, which ends every session of the account and opens none.
    ///
    /// - Parameters:
    ///   - sent: The code that was sent.
    ///   - code: The code.
    ///   - password: The new password.
    ///   - provider: The name of a provider of type `password`.
    /// - Returns: The names of the providers that open the account.
    /// - Throws: ``LedgerError/Code/invalidCode``, ``LedgerError/Code/weakPassword``,
    ///   ``LedgerError/Code/accountDisabled``.
    @discardableResult
    public func resetPassword(
        _ sent: SentCode, code: String, password: String, at provider: String = "password"
    ) async throws(LedgerError) -> [String] {
        try await following { keeper throws(LedgerError) in
            var body = Proof.newPassword(sent, code: code, password: password).body
            body["device_token"] = await keeper.deviceToken()
            return try await keeper.recover(
                APICall(route: .completeReset, segments: [provider], body: body))
        }
    }

    /// Replaces the password, which ends every session of the account and opens a new one here.
    ///
    /// - Parameters:
    ///   - password: The new password.
    ///   - current: The address and the present password; nil after a recent sign-in.
    /// - Returns: The new session's sign-in.
    /// - Throws: ``LedgerError/Code/weakPassword``, ``LedgerError/Code/invalidPassword``,
    ///   ``LedgerError/Code/reauthenticationRequired``.
    @discardableResult
    public func changePassword(
        to password: String, current: (email: String, password: String)? = nil
    ) async throws(LedgerError) -> SignIn {
        try await acting { keeper, shown throws(LedgerError) in
            var body: [String: BodyValue] = ["password": .text(password)]
            body["device_token"] = await keeper.deviceToken()
            if let current {
                body["email"] = .text(current.email)
                body["current_password"] = .text(current.password)
            }
            return try await keeper.replaceSession(
                APICall(route: .changePassword, body: body), for: shown)
        }
    }

    /// The secret of the anonymous account that is signed in; nil for another account.
    ///
    /// It proves the anonymous account in a merge into the account of an identity that turned out to have one.
    ///
    /// - Returns: The secret.
    /// - Throws: ``LedgerError/Code/gateClosed``, ``LedgerError/Code/noSession``, ``LedgerError/Code/storeFailed``.
    public func anonymousSecret() async throws(LedgerError) -> String? {
        try await acting { keeper, shown throws(LedgerError) in
            try await keeper.anonymousSecret(for: shown)
        }
    }
}

extension SessionKeeper {
    /// Sends a sign-up, and stores the session of its answer, if it has one.
    func signUp(_ call: APICall) async throws(LedgerError) -> SignUpResult {
        let began = sender.time.monotonic
        switch try await sender.send(call, as: SignUpAnswer.self) {
        case .sent(let code): return .codeSent(code)
        case .opened(let answer):
            let signIn = await open(answer, began)
            return .signedIn(
                signIn, confirmation: answer.challengeID.map(SentCode.init(confirming:)))
        }
    }

    /// Returns the secret of an anonymous account, which the gate guards like a token.
    func anonymousSecret(for subject: CallSubject) async throws(LedgerError) -> String? {
        guard try await heldSecret(for: subject) != nil else { return nil }
        try await openGate()
        return try await heldSecret(for: subject)
    }

    private func heldSecret(for subject: CallSubject) async throws(LedgerError) -> String? {
        let session = try await load().session
        guard session.map(subject.includes) ?? true else { throw Self.noSession }
        return session?.anonymousSecret
    }

    /// Returns the token of this device as a member of a body, if there is one: a store that cannot be read locks no
    /// person out.
    func deviceToken() async -> BodyValue? {
        (try? await load())?.deviceToken.map { .text($0) }
    }

    /// Sends a code that proves an address and opens no session; returns the providers of the account.
    func recover(_ call: APICall) async throws(LedgerError) -> [String] {
        let answer = try await sender.send(call, as: LinkedProvidersAnswer.self)
        if let token = answer.deviceToken {
            // Without it the answer counts all the same.
            try? await change { $0.deviceToken = token }
        }
        return answer.linkedProviders
    }

    /// Returns the members of a second step.
    func secondStep(of factor: SecondFactor) async throws(LedgerError) -> [String: BodyValue] {
        guard let challenge else { throw Self.noSecondStep }
        var body: [String: BodyValue] = [
            "sign_in_token": .text(challenge.token), "factor_id": .text(factor.id),
        ]
        body["device_token"] = await deviceToken()
        return body
    }
}
