package import Ledger

/// The client that presents a credential, and the services that check it.
package struct CodeClient: Sendable {
    let codes: AddressCodes
    let passwords: PasswordChecks
    let passkeys: PasskeyChecks
    let flows: BrowserFlows
    let network: String
    let caller: Caller?
    let newID: @Sendable () -> UInt128

    /// Describes a client.
    ///
    /// - Parameters:
    ///   - codes: The service.
    ///   - passwords: The service that checks passwords.
    ///   - passkeys: The service that checks passkeys.
    ///   - flows: The service that reads the results of browser flows.
    ///   - network: The network of the client.
    ///   - caller: The account and the session of its access token; nil without one.
    ///   - newID: Returns the bits of new ids.
    package init(
        codes: AddressCodes, passwords: PasswordChecks, passkeys: PasskeyChecks,
        flows: BrowserFlows, network: String, caller: Caller?,
        newID: @escaping @Sendable () -> UInt128
    ) {
        self.codes = codes
        self.passwords = passwords
        self.passkeys = passkeys
        self.flows = flows
        self.network = network
        self.caller = caller
        self.newID = newID
    }
}

/// Proves that a client reads the messages of an address.
struct CodeProver {
    let provider: ProviderName

    /// Checks a code, which must have been sent for the purpose.
    ///
    /// - Throws: `wrongCode`, `limited` after too many wrong codes, `unavailable` when the store fails.
    func prove(
        _ body: CodeBody, by client: CodeClient, in tenant: TenantID, for purpose: ProofPurpose,
        at now: Timestamp
    ) async throws(Credential.Flaw) -> Proof {
        guard let use = use(purpose, client.caller) else { throw .wrongCode }
        return try await prove(body, by: client, in: tenant, for: use, at: now)
    }

    /// Checks a code, which must have been sent for a use.
    ///
    /// - Throws: `wrongCode`, `limited` after too many wrong codes, `unavailable` when the store fails.
    func prove(
        _ body: CodeBody, by client: CodeClient, in tenant: TenantID, for use: RequiredUse,
        at now: Timestamp
    ) async throws(Credential.Flaw) -> Proof {
        let (challenge, names) = try await check(body, client, tenant, use, at: now)
        let newID = AddressID(at: now, random: client.newID())
        guard let subject = Subject(provider: provider, providerID: newID.description) else {
            throw .wrongCode
        }
        let kind = challenge.name.kind
        let address = ProvedAddress(
            kind: kind, text: challenge.address, names: names, newID: newID)
        return Proof(
            subject, authenticatedAt: Timestamp(seconds: now.seconds),
            methods: kind == .phone ? .sms : .oneTimePassword,
            email: kind == .email ? Email(challenge.address, isVerified: true) : nil,
            address: address, challenge: challenge.id)
    }

    private func check(
        _ body: CodeBody, _ client: CodeClient, _ tenant: TenantID, _ use: RequiredUse,
        at now: Timestamp
    ) async throws(Credential.Flaw) -> (challenge: StoredChallenge, names: [AddressName]) {
        do throws(CodeFailure) {
            return try await client.codes.check(
                body, of: provider, in: tenant, for: use, from: client.network, at: now)
        } catch {
            throw error.flaw(or: .wrongCode)
        }
    }

    private func use(_ purpose: ProofPurpose, _ caller: Caller?) -> RequiredUse? {
        switch purpose {
        case .signIn: .signIn
        case .link: caller.map { .link($0) }
        case .mergePreview: caller.map { .mergePreview($0) }
        case .merge(let plan, _): caller.map { .merge($0, plan: plan) }
        }
    }
}
