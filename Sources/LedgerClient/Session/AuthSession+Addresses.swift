extension AuthSession {
    /// Sends the code that replaces an address of the account by this one.
    ///
    /// - Parameters:
    ///   - address: The new e-mail address, or the phone number with its country code.
    ///   - provider: The name of the provider of the address, of type `email`, `phone` or `password`.
    /// - Returns: The challenge of the code, for ``changeAddress(from:_:code:at:current:)``.
    /// - Throws: ``LedgerError/Code/invalidRequest`` for a text that is no address, ``LedgerError/Code/rateLimited``.
    public func sendAddressCode(
        to address: String, by provider: String
    ) async throws(LedgerError) -> SentCode {
        try await acting { keeper, shown throws(LedgerError) in
            try await keeper.send(
                APICall(
                    route: .sendAccountCode, segments: [provider],
                    body: ["address": .text(address), "change": .flag(true)]), as: SentCode.self,
                for: shown)
        }
    }

    /// Replaces an address of the account, which ends every session and opens a new one here.
    ///
    /// The former address can be taken back for seven days.
    ///
    /// - Parameters:
    ///   - address: The present address.
    ///   - sent: The code that was sent to the new one.
    ///   - code: The code.
    ///   - provider: The name of the provider of the address.
    ///   - current: The address and the present password; nil after a recent sign-in.
    /// - Returns: The new session's sign-in.
    /// - Throws: ``LedgerError/Code/invalidCode``, ``LedgerError/Code/invalidPassword``,
    ///   ``LedgerError/Code/reauthenticationRequired``, ``LedgerError/Code/providerNotLinked`` if it is not the account's
    ///   address, ``LedgerError/Code/providerConflict`` if an account has the new one,
    ///   ``LedgerError/Code/rateLimited`` within seven days after another change.
    @discardableResult
    public func changeAddress(
        from address: String, _ sent: SentCode, code: String, at provider: String,
        current: (email: String, password: String)? = nil
    ) async throws(LedgerError) -> SignIn {
        try await acting { keeper, shown throws(LedgerError) in
            var body = Proof.code(sent, code).body
            body["current_address"] = .text(address)
            body["device_token"] = await keeper.deviceToken()
            if let current {
                body["email"] = .text(current.email)
                body["current_password"] = .text(current.password)
            }
            var signIn = try await keeper.replaceSession(
                APICall(route: .changeAddress, segments: [provider], body: body), for: shown)
            // The identities that are known have the former address.
            let subject = CallSubject.account(signIn.profile.userID)
            if let profile = try? await Self.profile(keeper, subject) { signIn.profile = profile }
            return signIn
        }
    }

    /// Sends the code that takes a former address back, if an account had it until a change in the last seven days.
    ///
    /// - Parameters:
    ///   - address: The former address.
    ///   - provider: The name of the provider of the address.
    /// - Returns: The challenge of the code; the same for every address.
    /// - Throws: ``LedgerError/Code/rateLimited``.
    public func sendAddressReturn(
        to address: String, by provider: String
    ) async throws(LedgerError) -> SentCode {
        try await following { keeper throws(LedgerError) in
            var body: [String: BodyValue] = ["address": .text(address)]
            body["device_token"] = await keeper.deviceToken()
            return try await keeper.sender.send(
                APICall(route: .returnAddress, segments: [provider], body: body),
                as: SentCode.self)
        }
    }

    /// Restores a former address, which ends every session of the account and opens none.
    ///
    /// - Parameters:
    ///   - sent: The code that was sent.
    ///   - code: The code.
    ///   - password: A new password; required for an e-mail address where the tenant has passwords.
    ///   - provider: The name of the provider of the address.
    /// - Returns: The names of the providers that open the account.
    /// - Throws: ``LedgerError/Code/invalidCode``, ``LedgerError/Code/weakPassword``.
    @discardableResult
    public func returnAddress(
        _ sent: SentCode, code: String, password: String? = nil, at provider: String
    ) async throws(LedgerError) -> [String] {
        try await following { keeper throws(LedgerError) in
            var body = Proof.code(sent, code).body
            if let password { body["password"] = .text(password) }
            body["device_token"] = await keeper.deviceToken()
            return try await keeper.recover(
                APICall(route: .completeReturn, segments: [provider], body: body))
        }
    }

    /// Reads the recent activity of the account, newest first.
    ///
    /// - Parameters:
    ///   - before: The ``ActivityPage/next`` of the page before; nil for the first one.
    ///   - limit: The maximum number of events, 1 to 100; 20 if nil.
    /// - Returns: A page.
    /// - Throws: ``LedgerError/Code/invalidRequest``, ``LedgerError/Code/noSession``.
    public func activity(
        before: String? = nil, limit: Int? = nil
    ) async throws(LedgerError) -> ActivityPage {
        var query: [(name: String, value: String)] = []
        if let before { query.append(("before", before)) }
        if let limit { query.append(("limit", "\(limit)")) }
        return try await acting { [query] keeper, shown throws(LedgerError) in
            try await keeper.send(
                APICall(route: .activity, query: query), as: ActivityPage.self, for: shown)
        }
    }
}
