package import Ledger
internal import OneTimePasswords

/// Enrols second factors and checks their codes.
package final class SecondFactors: Sendable {
    /// The start of the enrolment of an authenticator app.
    package struct Enrolment: Sendable {
        /// The token that the confirmation presents together with a code.
        package let token: String
        /// The secret in base32, for a person who types it.
        package let secret: String
        /// The URI for a QR code.
        package let uri: String
    }

    /// The maximum lengths in bytes of the names of service and account that an authenticator app shows, and of a
    /// code.
    package static let nameBytesMax = 128
    package static let codeBytesMax = 64

    /// The number of codes of a set.
    package static let recoveryCodeCount = RecoveryCodes.count

    let store: any FactorStore
    private let codes: AddressCodes
    let passkeys: PasskeyChecks
    private let tokens: SecondFactorTokens

    /// Creates the service of a ledger.
    ///
    /// - Parameters:
    ///   - store: Reads factors.
    ///   - codes: Counts wrong codes.
    ///   - passkeys: Makes the challenges of passkeys, and checks the responses.
    ///   - tokens: Seals the tokens between two steps.
    package init(
        store: any FactorStore, codes: AddressCodes, passkeys: PasskeyChecks,
        tokens: SecondFactorTokens
    ) {
        self.store = store
        self.codes = codes
        self.passkeys = passkeys
        self.tokens = tokens
    }

    /// Makes a secret for an authenticator app.
    ///
    /// - Parameters:
    ///   - caller: The account holder, whose session alone can confirm it.
    ///   - tenant: The tenant.
    ///   - issuer: The name of the service in the app.
    ///   - name: The name of the account in the app.
    ///   - now: The time of the request.
    /// - Returns: nil for a name that is empty or has a colon, which the format of the URI does not allow.
    package func beginEnrolment(
        by caller: Caller, in tenant: TenantID, issuer: String, name: String, at now: Timestamp
    ) -> Enrolment? {
        let secret = TOTPSecret.generate()
        guard let uri = secret.uri(issuer: issuer, account: name) else { return nil }
        return Enrolment(
            token: tokens.issue(
                enrolling: secret.copiedBytes(), for: caller, in: tenant, at: now),
            secret: secret.base32, uri: uri)
    }

    /// Checks the first code of an authenticator app.
    ///
    /// - Returns: The factor, and the token as the command spends it.
    /// - Throws: `wrong` for another code, and for a token that has expired or is of another session.
    package func confirm(
        _ token: String, code: String, as id: FactorID, by caller: Caller, in tenant: TenantID,
        at now: Timestamp
    ) throws(CodeFailure) -> (factor: NewFactor, token: SingleUseIDToken) {
        guard let (bytes, token) = tokens.enrolment(token, of: caller, in: tenant, at: now),
            let step = Self.step(of: code, bytes, at: now)
        else { throw .wrong }
        return (NewFactor(id: id, kind: .totp, secret: bytes, counter: step), token)
    }

    /// Sends a code to a phone number that is to be a second factor.
    ///
    /// - Parameters:
    ///   - number: The canonical form.
    ///   - provider: The provider of the tenant's codes by SMS.
    ///   - caller: The account holder, whose session alone can confirm it.
    ///   - isEstablished: Whether the account has a proof of some age, which strangers' limits do not shut out.
    ///   - tenant: The tenant.
    ///   - network: The network of the client.
    ///   - language: The client's `Accept-Language`.
    ///   - now: The time of the request.
    /// - Returns: The id of the challenge.
    /// - Throws: `limited` when too many codes were sent, `faulted`.
    package func sendEnrolment(
        to number: String, of provider: ProviderName, by caller: Caller, isEstablished: Bool,
        in tenant: TenantID, from network: String, language: String?, at now: Timestamp
    ) async throws(CodeFailure) -> ChallengeID {
        try await codes.send(
            to: number, .phone, of: provider, in: tenant,
            for: .enrolment(caller, isEstablished: isEstablished), from: network,
            language: language, at: now)
    }

    /// Checks the code that was sent to a phone number.
    ///
    /// - Returns: The factor, and the challenge as the command spends it.
    /// - Throws: `wrong`, `limited` after too many wrong codes, `faulted`.
    package func confirm(
        _ body: CodeBody, as id: FactorID, of provider: ProviderName, by caller: Caller,
        in tenant: TenantID, from network: String, at now: Timestamp
    ) async throws(CodeFailure) -> (factor: NewFactor, challenge: ChallengeID) {
        let (challenge, _) = try await codes.check(
            body, of: provider, in: tenant, for: .enrolment(caller), from: network,
            at: now)
        return (
            NewFactor(id: id, kind: .phone, secret: Array(challenge.address.utf8), counter: 0),
            challenge.id
        )
    }

    /// Sends the code of a second factor that is a phone number.
    ///
    /// - Returns: The id of the challenge, which answers after this first step alone.
    /// - Throws: `wrong` for another factor, `limited` when too many codes were sent, `faulted`.
    package func sendCode(
        of id: String, after first: SecondFactorTokens.FirstStep, of provider: ProviderName,
        in tenant: TenantID, from network: String, knownAs device: String?, language: String?,
        at now: Timestamp
    ) async throws(CodeFailure) -> ChallengeID {
        guard let stored = try await factor(id, after: first, in: tenant),
            stored.factor.kind == .phone, let number = stored.number
        else { throw .wrong }
        return try await codes.send(
            to: number, .phone, of: provider, in: tenant,
            for: .secondStep(Self.step(stored, first), stored.factor), from: network,
            knownAs: device, language: language, at: now)
    }

    /// Makes a set of recovery codes.
    package func recoveryCodes(as id: FactorID) -> (factor: NewFactor, codes: [String]) {
        let made = RecoveryCodes()
        return (
            NewFactor(id: id, kind: .recoveryCodes, secret: made.secret, counter: 0), made.codes
        )
    }

    /// Returns the factors of an account and its recovery codes, in the order of their enrolment.
    package func factors(
        of account: AccountID, in tenant: TenantID
    ) async throws(LedgerFault) -> [ShownFactor] {
        try await store.factors(of: account, in: tenant).map {
            ShownFactor(factor: $0.factor, hint: $0.number.map { String($0.suffix(4)) })
        }
    }

    /// Returns the token of a proof that an account accepts together with a second factor.
    package func signInToken(
        for proof: Proof, of account: AccountID, in tenant: TenantID, at now: Timestamp
    ) -> String {
        tokens.issue(for: proof, of: account, in: tenant, at: now)
    }

    /// Reads a sign-in token.
    ///
    /// - Throws: `wrong` for one that has expired or was not issued for the tenant.
    package func firstStep(
        _ token: String, in tenant: TenantID, at now: Timestamp
    ) throws(CodeFailure) -> SecondFactorTokens.FirstStep {
        let step = tokens.firstStep(
            token, in: tenant, names: { self.codes.names(of: $0, $1, in: tenant) }, at: now)
        guard let step else { throw .wrong }
        return step
    }

    /// Checks the code of a factor, or the response of a passkey.
    ///
    /// It counts as wrong before it is compared, so that the number of codes that can be compared is bounded however
    /// many are tried at once.
    ///
    /// - Parameters:
    ///   - body: The code, with the challenge of a phone, and the token by which a device is known to the account.
    ///   - passkey: The response of a passkey, with the tenant's providers of passkeys.
    ///   - id: The id of the factor, in any form.
    ///   - provider: The provider of the tenant's codes by SMS, if it has one.
    ///   - first: The first step of the sign-in.
    ///   - tenant: The tenant.
    ///   - network: The network of the client.
    ///   - now: The time of the request.
    /// - Returns: The use of the factor; nil for a wrong code.
    /// - Throws: `limited` after too many wrong codes, `faulted`.
    package func check(
        _ body: CodeBody, _ passkey: PasskeyUse? = nil, of id: String, _ provider: ProviderName?,
        after first: SecondFactorTokens.FirstStep, in tenant: TenantID, from network: String,
        at now: Timestamp
    ) async throws(CodeFailure) -> FactorUse? {
        guard let stored = try await factor(id, after: first, in: tenant) else { return nil }
        let counts = try await codes.factorCounts(
            of: stored.factor, in: tenant, from: network, knownAs: body.deviceToken, at: now)
        if let reached = try await codes.count(counts, in: tenant, at: now) {
            throw .limited(retryAfterSeconds: reached.waitSeconds)
        }
        let use: FactorUse?
        do throws(CodeFailure) {
            use = try await compare(
                body, passkey, with: stored, provider, after: first, in: tenant, from: network,
                at: now)
        } catch {
            // Nothing was compared.
            try await codes.uncount(counts, in: tenant)
            throw error
        }
        if use != nil { try await codes.uncount(counts, in: tenant) }
        return use
    }

    /// Compares a code with a factor.
    ///
    /// - Returns: nil for a wrong code.
    private func compare(
        _ body: CodeBody, _ passkey: PasskeyUse?, with stored: StoredFactor,
        _ provider: ProviderName?, after first: SecondFactorTokens.FirstStep, in tenant: TenantID,
        from network: String,
        at now: Timestamp
    ) async throws(CodeFailure) -> FactorUse? {
        let id = stored.factor.id
        switch stored.factor.kind {
        case .totp:
            return Self.step(of: body.code, stored.secret, at: now)
                .map { FactorUse(factor: id, counter: $0) }
        case .recoveryCodes:
            return try await use(of: body.code, ofAccount: first.account, in: tenant)
        case .passkey:
            guard let passkey else { return nil }
            return passkeys.use(
                passkey.body, by: stored, after: Self.step(stored, first),
                among: passkey.providers, in: tenant, at: now)
        case .phone:
            guard let provider else { return nil }
            do throws(CodeFailure) {
                let (challenge, _) = try await codes.check(
                    body, of: provider, in: tenant, for: .secondStep(Self.step(stored, first)),
                    from: network, at: now)
                return FactorUse(factor: id, counter: 0, challenge: challenge.id)
            } catch {
                guard case .wrong = error else { throw error }
                return nil
            }
        }
    }

    /// Returns the use of a recovery code of any set of an account; nil for a wrong code.
    ///
    /// A merge may have brought another set, and a person can't tell whose a code is.
    private func use(
        of code: String, ofAccount account: AccountID, in tenant: TenantID
    ) async throws(CodeFailure) -> FactorUse? {
        let known: [StoredFactor]
        do { known = try await store.factors(of: account, in: tenant) } catch {
            throw .faulted(error)
        }
        for set in known where set.factor.kind == .recoveryCodes {
            if let number = RecoveryCodes.number(of: code, in: set.secret) {
                return FactorUse(factor: set.factor.id, counter: Int64(number))
            }
        }
        return nil
    }

    /// Returns a factor that may follow a first step.
    func factor(
        _ id: String, after first: SecondFactorTokens.FirstStep, in tenant: TenantID
    ) async throws(CodeFailure) -> StoredFactor? {
        let known: [StoredFactor]
        do { known = try await store.factors(of: first.account, in: tenant) } catch {
            throw .faulted(error)
        }
        return known.first {
            $0.factor.id == FactorID(id) && $0.factor.kind.mayFollow(first.proof.methods)
        }
    }

    /// Returns the text that binds a code to a factor and a first step.
    static func step(
        _ stored: StoredFactor, _ first: SecondFactorTokens.FirstStep
    ) -> String {
        "\(stored.factor.id):\(first.token.digest)"
    }

    private static func step(of code: String, _ secret: [UInt8], at now: Timestamp) -> Int64? {
        guard let secret = TOTPSecret(bytes: secret),
            let code = TOTPCode(code.filter { $0 != " " })
        else { return nil }
        return secret.step(of: code, at: now.seconds)
    }
}

/// A second factor as it is shown to people.
package struct ShownFactor: Sendable {
    package let factor: HeldFactor
    /// The last digits of a phone number; nil for any other kind.
    package let hint: String?

    /// Describes a factor.
    package init(factor: HeldFactor, hint: String? = nil) {
        self.factor = factor
        self.hint = hint
    }
}

extension StoredFactor {
    /// The phone number; nil for any other kind.
    fileprivate var number: String? {
        factor.kind == .phone ? String(decoding: secret, as: UTF8.self) : nil
    }
}
