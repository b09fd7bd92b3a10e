internal import Ledger

/// Proves that a client knows the password of an address, or that it may set one.
struct PasswordProver {
    let provider: ProviderName

    /// Checks a password, or a code that was sent for the purpose.
    ///
    /// - Throws: `wrongPassword`, `wrongCode`, `limited` or `codeNeeded` after too many wrong ones, `unavailable` when
    ///   the store fails or too many passwords wait for their check.
    func prove(
        _ body: PasswordBody, by client: CodeClient, in tenant: TenantID,
        for purpose: ProofPurpose, at now: Timestamp
    ) async throws(Credential.Flaw) -> Proof {
        switch body {
        case .known(let address, let password, let device, let code):
            if case .link = purpose { throw .wrongCode }
            let checked: PasswordChecks.Checked
            do throws(CodeFailure) {
                checked = try await client.passwords.check(
                    address, password, with: code, of: provider, in: tenant,
                    from: client.network, knownAs: device, at: now)
            } catch {
                throw error.flaw(or: .wrongPassword)
            }
            return try proof(
                checked.address, checked.names, client, at: now, password: checked.stored.version,
                isVerified: !checked.stored.isClaimed)
        case .claim(let address, let password):
            return try proof(
                address, client.codes.names(of: address, .email, in: tenant), client, at: now,
                new: password, isClaim: true, isVerified: false)
        case .signUp(let code):
            return try await signUp(code, by: client, in: tenant, for: purpose, at: now)
        // A client that sends the password again with the code of its sign-up.
        case .new(let code, _) where purpose.isSignIn:
            return try await signUp(code, by: client, in: tenant, for: purpose, at: now)
        case .new(let code, let password):
            guard case .link = purpose, let caller = client.caller else { throw .wrongCode }
            let (challenge, names) = try await check(code, client, tenant, .link(caller), at: now)
            let hash: NewPassword
            do throws(CodeFailure) {
                hash = try await client.passwords.hash(password, from: client.network)
            } catch {
                throw error.flaw(or: .wrongCode)
            }
            return try proof(
                challenge.address, names, client, at: now, challenge: challenge.id, new: hash)
        }
    }

    private func signUp(
        _ code: CodeBody, by client: CodeClient, in tenant: TenantID, for purpose: ProofPurpose,
        at now: Timestamp
    ) async throws(Credential.Flaw) -> Proof {
        guard purpose.isSignIn else { throw .wrongCode }
        let (challenge, names) = try await check(code, client, tenant, .signUp, at: now)
        guard let hash = challenge.secret else { throw .wrongCode }
        // The sign-up had the password of a claim, which the code confirms.
        guard challenge.plan == nil else {
            return try proof(
                challenge.address, names, client, at: now, challenge: challenge.id,
                password: try await version(of: challenge, names, client))
        }
        return try proof(
            challenge.address, names, client, at: now, challenge: challenge.id,
            new: NewPassword(hash: hash))
    }

    /// Returns the password that the code of a reset or of a claim was sent for.
    private func version(
        of challenge: StoredChallenge, _ names: [AddressName], _ client: CodeClient
    ) async throws(Credential.Flaw) -> PasswordVersion {
        do throws(CodeFailure) {
            return try await client.passwords.version(of: challenge, names)
        } catch {
            throw error.flaw(or: .wrongCode)
        }
    }

    /// Checks the code of a reset.
    ///
    /// - Returns: the proof of the address.
    func proveReset(
        _ code: CodeBody, by client: CodeClient, in tenant: TenantID, at now: Timestamp
    ) async throws(Credential.Flaw) -> Proof {
        let (challenge, names) = try await check(code, client, tenant, .reset, at: now)
        return try proof(
            challenge.address, names, client, at: now, challenge: challenge.id,
            password: try await version(of: challenge, names, client))
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

    private func proof(
        _ address: String, _ names: [AddressName], _ client: CodeClient, at now: Timestamp,
        challenge: ChallengeID? = nil, password: PasswordVersion? = nil, new: NewPassword? = nil,
        isClaim: Bool = false, isVerified: Bool = true
    ) throws(Credential.Flaw) -> Proof {
        let newID = AddressID(at: now, random: client.newID())
        guard let subject = Subject(provider: provider, providerID: newID.description) else {
            throw .wrongPassword
        }
        return Proof(
            subject, authenticatedAt: Timestamp(seconds: now.seconds), methods: .password,
            email: Email(address, isVerified: isVerified),
            address: ProvedAddress(
                kind: .email, text: address, names: names,
                newID: newID),
            challenge: challenge, password: password, newPassword: new, isClaim: isClaim)
    }
}

extension CodeFailure {
    /// The flaw of a credential that failed so; a wrong one is the given flaw.
    func flaw(or wrong: Credential.Flaw) -> Credential.Flaw {
        switch self {
        case .wrong: wrong
        case .wrongCode: .wrongCode
        case .limited(let seconds): .limited(retryAfterSeconds: seconds)
        case .codeNeeded(let seconds): .codeNeeded(retryAfterSeconds: seconds)
        case .faulted: .unavailable
        }
    }
}
