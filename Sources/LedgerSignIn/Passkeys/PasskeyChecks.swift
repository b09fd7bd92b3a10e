package import Cryptography
internal import Encodings
internal import JSON
package import Ledger
package import Passkeys

/// Makes the challenges of passkeys, and checks the responses.
package final class PasskeyChecks: Sendable {
    /// The lifetime of a challenge, in seconds.
    package static let challengeSeconds: Int64 = 600
    /// The maximum length of a challenge, in bytes.
    package static let challengeBytesMax = 1024
    /// The maximum length of the names of a person, in bytes.
    package static let nameBytesMax = 128

    /// The use of a challenge; a response counts for its own use alone.
    package enum Use: Hashable, Sendable {
        /// Opens an account.
        case signUp
        case signIn
        /// Adds a passkey to the account of this session.
        case link(Caller)
        /// Proves the account that the account of this session absorbs, under the plan with this digest; nil for
        /// the preview.
        case merge(Caller, plan: String?)
        /// Adds a second factor to the account of this session.
        case enrolment(Caller)
        /// Finishes the sign-in with this first step by a factor.
        case secondStep(String)

        /// Whether the passkey is a second factor, which the person has touched: it need not verify the person.
        var isOfFactor: Bool {
            switch self {
            case .signUp, .signIn, .link, .merge: false
            case .enrolment, .secondStep: true
            }
        }
    }

    /// A challenge, and the options that the browser gets with it.
    package struct Challenge<Options: Sendable>: Sendable {
        package let id: String
        package let options: Options
    }

    let store: any PasskeyStore
    let onCounterFault: @Sendable (TenantID, AccountID, _ isRefused: Bool) -> Void
    private let tokens: SealedTokens

    /// Creates the service of a ledger.
    ///
    /// - Parameters:
    ///   - store: Finds passkeys.
    ///   - secret: The secret that all processes of the ledger share.
    ///   - restores: The times of the last accepted restores.
    ///   - onCounterFault: Called for each response whose counter did not go up, with the account that has the passkey,
    ///     and whether the settings refuse it.
    package init(
        store: any PasskeyStore, key secret: SymmetricKey, restores: [TenantID: Timestamp] = [:],
        onCounterFault: @escaping @Sendable (TenantID, AccountID, _ isRefused: Bool) -> Void
    ) {
        self.store = store
        self.onCounterFault = onCounterFault
        tokens = SealedTokens(key: secret, label: "passkey-challenge", restores: restores)
    }

    /// Makes the challenge of a registration.
    ///
    /// - Parameters:
    ///   - use: A sign-up, a link or an enrolment; an account's authenticators register no second passkey for it.
    ///   - name: The name by which the authenticator tells accounts apart.
    ///   - displayName: The name of the person; may be empty.
    ///   - factors: The passkeys that are second factors of the account.
    ///   - provider: The provider.
    ///   - settings: Its settings.
    ///   - tenant: The tenant.
    ///   - now: The time of the request.
    /// - Returns: The challenge.
    /// - Throws: the fault of the store.
    package func beginRegistration(
        for use: Use, name: String, displayName: String, besides factors: [StoredFactor] = [],
        of provider: ProviderName, _ settings: PasskeySettings, in tenant: TenantID,
        at now: Timestamp
    ) async throws(LedgerFault) -> Challenge<PasskeyCreationOptions> {
        var stored: [AccountPasskey] = []
        switch use {
        case .link(let caller), .enrolment(let caller):
            stored = try await store.passkeys(of: caller.account, at: provider, in: tenant)
        case .signUp, .signIn, .merge, .secondStep: break
        }
        // The passkeys by which an account is reached have one handle, without those of accounts that it absorbed:
        // after an undone merge two accounts with one handle would replace each other's. A factor must replace none.
        let own = use.isOfFactor ? nil : stored.first { !$0.isAbsorbed }
        let handle =
            own.flatMap { PasskeyRecord($0.text)?.passkey.userHandle }
            ?? PasskeyCeremony.newChallenge()
        var known = stored.compactMap { PasskeyRecord($0.text) }
        known += factors.compactMap(\.passkey)
        let bytes = PasskeyCeremony.newChallenge()
        guard let ceremony = settings.ceremony(bytes, for: use),
            let user = PasskeyCreationOptions.User(
                handle: handle, name: name, displayName: displayName)
        else { throw .internalFailure }
        return Challenge(
            id: seal(bytes, handle, for: use, of: provider, in: tenant, at: now),
            options: PasskeyCreationOptions(
                for: ceremony, user: user,
                excluding: known.map {
                    PasskeyDescriptor(
                        credentialID: $0.passkey.credentialID, transports: $0.transports)
                }, isStored: !use.isOfFactor, timeout: .seconds(Self.challengeSeconds)))
    }

    /// Makes the challenge of a sign-in, a merge or a second step.
    ///
    /// Without a known passkey the person chooses among those of the authenticator.
    ///
    /// - Throws: `internalFailure`, if no random bytes make a challenge.
    package func beginAssertion(
        for use: Use, with factor: StoredFactor? = nil, of provider: ProviderName,
        _ settings: PasskeySettings, in tenant: TenantID, at now: Timestamp
    ) throws(LedgerFault) -> Challenge<PasskeyRequestOptions> {
        let bytes = PasskeyCeremony.newChallenge()
        guard let ceremony = settings.ceremony(bytes, for: use) else { throw .internalFailure }
        let allowed = [factor?.passkey].compactMap(\.self).map {
            PasskeyDescriptor(credentialID: $0.passkey.credentialID, transports: $0.transports)
        }
        return Challenge(
            id: seal(bytes, [], for: use, of: provider, in: tenant, at: now),
            options: PasskeyRequestOptions(
                for: ceremony, allowing: allowed, timeout: .seconds(Self.challengeSeconds)))
    }

    /// Checks a response.
    ///
    /// - Throws: `invalid` for anything but the response to an open challenge of one of the uses, also by a passkey
    ///   that no account has; `unavailable` when the store fails.
    func prove(
        _ body: PasskeyBody, for uses: [Use], of provider: ProviderName,
        _ settings: PasskeySettings, in tenant: TenantID, at now: Timestamp
    ) async throws(Credential.Flaw) -> Proof {
        let opened = uses.lazy.compactMap {
            self.open(body, for: $0, of: provider, settings, in: tenant, at: now)
        }.first
        guard let opened else { throw .invalid }
        // A challenge of a registration has a handle.
        return body.isRegistration && !opened.handle.isEmpty
            ? try register(body, opened, provider, at: now)
            : try await assert(body, opened, provider, settings, tenant, at: now)
    }

    /// An open challenge.
    struct Opened {
        let ceremony: PasskeyCeremony
        /// The user of a registration; empty for any other challenge.
        let handle: [UInt8]
        let token: SingleUseIDToken
    }

    /// Opens the challenge of a response; nil unless it was made for the use and has not expired.
    func open(
        _ body: PasskeyBody, for use: Use, of provider: ProviderName, _ settings: PasskeySettings,
        in tenant: TenantID, at now: Timestamp
    ) -> Opened? {
        guard
            let (members, token) = tokens.open(
                body.challenge, Self.context(use, provider, tenant), in: tenant, at: now),
            let bytes = members["challenge"]?.string.flatMap({ Base64URL.decode($0) }),
            let handle = members["user"]?.string.flatMap({ Base64URL.decode($0) }),
            let ceremony = settings.ceremony(bytes, for: use)
        else { return nil }
        return Opened(ceremony: ceremony, handle: handle, token: token)
    }

    /// Verifies the response of a registration; nil for an invalid one.
    func registered(
        _ body: PasskeyBody, _ opened: Opened
    ) -> (record: PasskeyRecord, isUserVerified: Bool)? {
        guard let response = try? RegistrationResponse(body.credential),
            let made = try? opened.ceremony.verify(response)
        else { return nil }
        let record = PasskeyRecord(
            StoredPasskey(
                credentialID: made.credentialID, publicKey: made.publicKey,
                signatureCount: made.signatureCount, isBackupEligible: made.isBackupEligible,
                userHandle: opened.handle), transports: made.transports,
            isBackedUp: made.isBackedUp)
        return (record, made.isUserVerified)
    }

    private func register(
        _ body: PasskeyBody, _ opened: Opened, _ provider: ProviderName, at now: Timestamp
    ) throws(Credential.Flaw) -> Proof {
        guard let made = registered(body, opened),
            let subject = Self.subject(
                made.record.passkey.credentialID, provider, of: opened.ceremony.relyingParty)
        else { throw .invalid }
        return Proof(
            subject, authenticatedAt: Timestamp(seconds: now.seconds),
            methods: made.isUserVerified ? .verifyingPasskey : .passkey, email: nil,
            passkey: PasskeyProof(registering: made.record.stored), usedUp: opened.token)
    }

    private func assert(
        _ body: PasskeyBody, _ opened: Opened, _ provider: ProviderName,
        _ settings: PasskeySettings, _ tenant: TenantID, at now: Timestamp
    ) async throws(Credential.Flaw) -> Proof {
        let response: AssertionResponse
        do { response = try AssertionResponse(body.credential) } catch { throw .invalid }
        guard
            let subject = Self.subject(
                response.credentialID, provider, of: settings.relyingParty)
        else { throw .invalid }
        let stored: StoredPassword?
        do { stored = try await store.passkey(of: subject, in: tenant) } catch {
            throw .unavailable
        }
        guard let stored, let record = PasskeyRecord(stored.hash) else { throw .invalid }
        let use: PasskeyUse
        do {
            use = try opened.ceremony.verify(response, of: record.passkey)
        } catch {
            throw .invalid
        }
        // A copied authenticator and its original have one counter, which one of them sets back.
        if use.hasCounterGoneBack {
            let isRefused = settings.refusesCounterRollback
            if let account = stored.account { onCounterFault(tenant, account, isRefused) }
            if isRefused { throw .invalid }
        }
        return Proof(
            subject, authenticatedAt: Timestamp(seconds: now.seconds),
            methods: use.isUserVerified ? .verifyingPasskey : .passkey, email: nil,
            passkey: PasskeyProof(
                using: stored.version,
                renewed: record.renewed(by: use)?.stored,
                comparesCounter: settings.refusesCounterRollback),
            usedUp: opened.token)
    }

    private func seal(
        _ challenge: [UInt8], _ handle: [UInt8], for use: Use, of provider: ProviderName,
        in tenant: TenantID, at now: Timestamp
    ) -> String {
        tokens.seal(
            Self.context(use, provider, tenant), in: tenant,
            until: now.adding(seconds: Self.challengeSeconds)
        ) { writer in
            writer.member("challenge", Base64URL.encode(challenge))
            writer.member("user", Base64URL.encode(handle))
        }
    }

    private static func context(
        _ use: Use, _ provider: ProviderName, _ tenant: TenantID
    ) -> String {
        let text =
            switch use {
            case .signUp: "sign-up"
            case .signIn: "sign-in"
            case .link(let caller): "link\0\(caller.session)"
            case .merge(let caller, let plan): "merge\0\(caller.session)\0\(plan ?? "")"
            case .enrolment(let caller): "enrolment\0\(caller.session)"
            case .secondStep(let step): "second-step\0\(step)"
            }
        return "\(tenant)\0\(provider)\0\(text)"
    }

    /// Returns the subject of a credential: the hash of the domain and its id.
    static func subject(
        _ credentialID: [UInt8], _ provider: ProviderName, of party: RelyingParty
    ) -> Subject? {
        Subject(
            provider: provider,
            providerID: Base64URL.encode(
                SHA256.hash(Array("\(party.id)\0".utf8) + credentialID)))
    }
}

extension PasskeySettings {
    fileprivate func ceremony(
        _ challenge: [UInt8], for use: PasskeyChecks.Use
    ) -> PasskeyCeremony? {
        PasskeyCeremony(
            relyingParty: relyingParty, challenge: challenge,
            userVerification: use.isOfFactor
                ? .discouraged : requiresVerification ? .required : .preferred)
    }
}
