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

    private let store: any FactorStore
    private let codes: AddressCodes
    private let tokens: SecondFactorTokens

    /// Creates the service of a ledger.
    ///
    /// - Parameters:
    ///   - store: Reads factors.
    ///   - codes: Counts wrong codes.
    ///   - tokens: Seals the tokens between two steps.
    package init(store: any FactorStore, codes: AddressCodes, tokens: SecondFactorTokens) {
        self.store = store
        self.codes = codes
        self.tokens = tokens
    }

    /// Makes a secret for an authenticator app.
    ///
    /// - Parameters:
    ///   - id: The id of the factor.
    ///   - caller: The account holder, whose session alone can confirm it.
    ///   - tenant: The tenant.
    ///   - issuer: The name of the service in the app.
    ///   - name: The name of the account in the app.
    ///   - now: The time of the request.
    /// - Returns: nil for a name that is empty or has a colon, which the format of the URI does not allow.
    package func beginEnrolment(
        as id: FactorID, by caller: Caller, in tenant: TenantID, issuer: String, name: String,
        at now: Timestamp
    ) -> Enrolment? {
        let secret = TOTPSecret.generate()
        guard let uri = secret.uri(issuer: issuer, account: name) else { return nil }
        return Enrolment(
            token: tokens.issue(
                enrolling: secret.copiedBytes(), as: id, for: caller, in: tenant, at: now),
            secret: secret.base32, uri: uri)
    }

    /// Checks the first code of an authenticator app.
    ///
    /// - Returns: The factor, and the token as the command spends it.
    /// - Throws: `wrong` for another code, and for a token that has expired or is of another session.
    package func confirm(
        _ token: String, code: String, by caller: Caller, in tenant: TenantID, at now: Timestamp
    ) throws(CodeFailure) -> (factor: NewFactor, token: SingleUseIDToken) {
        guard let (id, bytes, token) = tokens.enrolment(token, of: caller, in: tenant, at: now),
            let step = Self.step(of: code, bytes, at: now)
        else { throw .wrong }
        return (NewFactor(id: id, kind: .totp, secret: bytes, counter: step), token)
    }

    /// Makes a set of recovery codes.
    package func recoveryCodes(as id: FactorID) -> (factor: NewFactor, codes: [String]) {
        let made = RecoveryCodes()
        return (
            NewFactor(id: id, kind: .recoveryCodes, secret: made.secret, counter: 0), made.codes
        )
    }

    /// Returns the factors of an account and its recovery codes, in the order of their ids.
    package func factors(
        of account: AccountID, in tenant: TenantID
    ) async throws(LedgerFault) -> [HeldFactor] {
        try await store.factors(of: account, in: tenant).map(\.factor)
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

    /// Checks the code of a factor.
    ///
    /// It counts as wrong before it is compared, so that the number of codes that can be compared is bounded however
    /// many are tried at once.
    ///
    /// - Parameters:
    ///   - code: The code.
    ///   - id: The id of the factor, in any form.
    ///   - first: The first step of the sign-in.
    ///   - tenant: The tenant.
    ///   - network: The network of the client.
    ///   - device: The token by which a device is known to the address that the first step proved.
    ///   - now: The time of the request.
    /// - Returns: The use of the factor; nil for a wrong code.
    /// - Throws: `limited` after too many wrong codes, `faulted`.
    package func check(
        _ code: String, of id: String, after first: SecondFactorTokens.FirstStep,
        in tenant: TenantID, from network: String, knownAs device: String?, at now: Timestamp
    ) async throws(CodeFailure) -> FactorUse? {
        let known: [StoredFactor]
        do { known = try await store.factors(of: first.account, in: tenant) } catch {
            throw .faulted(error)
        }
        guard let stored = known.first(where: { $0.factor.id == FactorID(id) }) else { return nil }
        let counts = codes.factorCounts(
            of: stored.factor, after: first.proof.address, in: tenant, from: network,
            knownAs: device)
        if let wait = try await codes.count(counts, in: tenant, at: now) {
            throw .limited(retryAfterSeconds: wait)
        }
        let counter: Int64? =
            switch stored.factor.kind {
            case .totp: Self.step(of: code, stored.secret, at: now)
            case .recoveryCodes: RecoveryCodes.number(of: code, in: stored.secret).map { Int64($0) }
            }
        guard let counter else { return nil }
        try await codes.uncount(counts, in: tenant)
        return FactorUse(factor: stored.factor.id, counter: counter)
    }

    private static func step(of code: String, _ secret: [UInt8], at now: Timestamp) -> Int64? {
        guard let secret = TOTPSecret(bytes: secret),
            let code = TOTPCode(code.filter { $0 != " " })
        else { return nil }
        return secret.step(of: code, at: now.seconds)
    }
}
