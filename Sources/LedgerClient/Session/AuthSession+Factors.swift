extension AuthSession {
    /// Reads the second factors of the account.
    ///
    /// - Returns: The factors in the order of their enrolment; the recovery codes are one of them.
    /// - Throws: ``LedgerError/Code/noSession``.
    public func factors() async throws(LedgerError) -> [EnrolledFactor] {
        try await listed(APICall(route: .factors))
    }

    /// Makes a secret for an authenticator app.
    ///
    /// Nothing is enrolled before ``enrolFactor(_:)``.
    ///
    /// - Parameters:
    ///   - issuer: The name of the service in the app; the tenant's by default.
    ///   - accountName: The name of the account in the app; the user id by default.
    /// - Returns: The secret, which is good for ten minutes in this session.
    /// - Throws: ``LedgerError/Code/invalidRequest`` for a name with a colon.
    public func beginAuthenticatorApp(
        issuer: String? = nil, accountName: String? = nil
    ) async throws(LedgerError) -> AuthenticatorAppSecret {
        var body: [String: BodyValue] = ["type": .text(SecondFactor.Kind.authenticatorApp.rawValue)]
        if let issuer { body["issuer"] = .text(issuer) }
        if let accountName { body["account_name"] = .text(accountName) }
        return try await acting { [body] keeper, shown throws(LedgerError) in
            try await keeper.send(
                APICall(route: .beginFactor, body: body), as: AuthenticatorAppSecret.self,
                for: shown)
        }
    }

    /// Sends the code that enrols a phone.
    ///
    /// - Parameter phone: The number with its country code.
    /// - Returns: The challenge of the code, for ``FactorConfirmation/phone(_:code:)``.
    /// - Throws: ``LedgerError/Code/unsupportedProvider`` for a tenant without codes to phones,
    ///   ``LedgerError/Code/invalidRequest``, ``LedgerError/Code/rateLimited``.
    public func sendFactorCode(to phone: String) async throws(LedgerError) -> SentCode {
        try await acting { keeper, shown throws(LedgerError) in
            try await keeper.send(
                APICall(
                    route: .beginFactor,
                    body: [
                        "type": .text(SecondFactor.Kind.phone.rawValue), "phone": .text(phone),
                    ]), as: SentCode.self, for: shown)
        }
    }

    /// Enrols a second factor by its first use, shortly after a sign-in.
    ///
    /// The first factor ends all sessions of the account and opens a new one here. It is not repeated after a lost
    /// answer: sign in again then, and replace the recovery codes if the factor is there.
    ///
    /// - Parameter confirmation: The first use.
    /// - Returns: The factor, and the recovery codes that the first one brings: show them at once.
    /// - Throws: ``LedgerError/Code/invalidCode``, ``LedgerError/Code/reauthenticationRequired``,
    ///   ``LedgerError/Code/factorRefused`` with the reason `too_many`, `anonymous` or `same_kind`.
    public func enrolFactor(
        _ confirmation: FactorConfirmation
    ) async throws(LedgerError) -> FactorEnrolment {
        try await acting { keeper, shown throws(LedgerError) in
            try await keeper.enrol(
                APICall(route: .enrolFactor, body: confirmation.body), for: shown)
        }
    }

    /// Removes a second factor, after a sign-in with one.
    ///
    /// The recovery codes go with the last factor.
    ///
    /// - Parameter id: The id of the factor, or that of the recovery codes.
    /// - Returns: The other factors.
    /// - Throws: ``LedgerError/Code/factorNotFound``, ``LedgerError/Code/reauthenticationRequired``,
    ///   ``LedgerError/Code/factorRefused`` with the reason `same_kind`.
    @discardableResult
    public func removeFactor(_ id: String) async throws(LedgerError) -> [EnrolledFactor] {
        try await listed(APICall(route: .removeFactor, segments: [id]))
    }

    /// Stops a removal that support planned: ``EnrolledFactor/removalDue``.
    ///
    /// - Parameter id: The id of the factor.
    /// - Returns: The factors.
    /// - Throws: ``LedgerError/Code/factorNotFound``, also without a planned removal.
    @discardableResult
    public func keepFactor(_ id: String) async throws(LedgerError) -> [EnrolledFactor] {
        try await listed(APICall(route: .keepFactor, segments: [id], body: [:]))
    }

    /// Replaces the recovery codes, after a sign-in with a second factor.
    ///
    /// - Returns: The new codes, which are shown here alone.
    /// - Throws: ``LedgerError/Code/reauthenticationRequired``, ``LedgerError/Code/factorRefused`` without a factor.
    public func renewRecoveryCodes() async throws(LedgerError) -> [String] {
        try await acting { keeper, shown throws(LedgerError) in
            try await keeper.send(
                APICall(route: .renewRecoveryCodes, body: [:]), as: RecoveryCodesAnswer.self,
                for: shown
            ).recoveryCodes
        }
    }

    /// Sends a call whose answer is the list of factors.
    private func listed(_ call: APICall) async throws(LedgerError) -> [EnrolledFactor] {
        try await acting { keeper, shown throws(LedgerError) in
            try await keeper.send(call, as: FactorsAnswer.self, for: shown).factors
        }
    }
}

extension SessionKeeper {
    /// Sends an enrolment, and stores the session of its answer, if it has one.
    fileprivate func enrol(
        _ call: APICall, for subject: CallSubject
    ) async throws(LedgerError) -> FactorEnrolment {
        let began = sender.time.monotonic
        let answer = try await send(call, as: EnrolmentAnswer.self, for: subject)
        if let session = answer.session { _ = await open(session, began, for: session.userID) }
        return FactorEnrolment(
            factorID: answer.factorID, recoveryCodes: answer.recoveryCodes ?? [])
    }
}

/// The body of an answer that lists factors.
private struct FactorsAnswer: Decodable {
    let factors: [EnrolledFactor]
}

/// The body of an answer to an enrolment.
private struct EnrolmentAnswer: Decodable {
    let factorID: String
    let recoveryCodes: [String]?
    let session: SessionAnswer?

    enum CodingKeys: String, CodingKey {
        case factorID = "factor_id"
        case recoveryCodes = "recovery_codes"
        case session
    }
}

/// The body of an answer with new recovery codes.
private struct RecoveryCodesAnswer: Decodable {
    let recoveryCodes: [String]

    enum CodingKeys: String, CodingKey {
        case recoveryCodes = "recovery_codes"
    }
}
