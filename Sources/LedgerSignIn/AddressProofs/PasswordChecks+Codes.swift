package import Ledger

/// The codes beside passwords, and in place of them.
extension PasswordChecks {
    /// Sends the code with which a password is tried that strangers have tried too often, if an account has one with
    /// the address.
    ///
    /// The result is the same without one.
    ///
    /// - Returns: The id of the challenge.
    /// - Throws: `limited` when too many codes were sent, `faulted`.
    package func beginSignIn(
        _ address: String, of provider: ProviderName, in tenant: TenantID, from network: String,
        knownAs device: String?, language: String?, at now: Timestamp
    ) async throws(CodeFailure) -> ChallengeID {
        let names = codes.names(of: address, .email, in: tenant)
        let isKnown = try await find(names, at: provider, in: tenant) != nil
        return try await codes.send(
            to: address, .email, of: provider, in: tenant, for: .password(isKnown: isKnown),
            from: network, knownAs: device, language: language, at: now)
    }

    /// Sends the code of a reset, if an account with a password has the address.
    ///
    /// The result is the same without one.
    ///
    /// - Returns: The id of the challenge.
    /// - Throws: `limited` when too many codes were sent, `faulted`.
    package func beginReset(
        _ address: String, of provider: ProviderName, in tenant: TenantID, from network: String,
        knownAs device: String?, language: String?, at now: Timestamp
    ) async throws(CodeFailure) -> ChallengeID {
        let names = codes.names(of: address, .email, in: tenant)
        let known = try await find(names, at: provider, in: tenant)
        let version = known.flatMap { $0.isClaimed ? nil : $0.version }
        return try await codes.send(
            to: address, .email, of: provider, in: tenant, for: .reset(version),
            from: network, knownAs: device, language: language, at: now)
    }

    /// Sends the code by which a former address is taken back, if it can be.
    ///
    /// The result is the same if it can't.
    ///
    /// - Returns: The id of the challenge.
    /// - Throws: `limited` when too many codes were sent, `faulted`.
    package func beginReturn(
        of address: String, _ kind: AddressKind, at provider: ProviderName, in tenant: TenantID,
        from network: String, knownAs device: String?, language: String?, at now: Timestamp
    ) async throws(CodeFailure) -> ChallengeID {
        let names = codes.names(of: address, kind, in: tenant)
        let isPossible: Bool
        do {
            isPossible = try await store.canBeTakenBack(
                names, at: provider, in: tenant, at: now)
        } catch {
            throw .faulted(error)
        }
        return try await codes.send(
            to: address, kind, of: provider, in: tenant, for: .takeBack(isPossible: isPossible),
            from: network, knownAs: device, language: language, at: now)
    }
}
