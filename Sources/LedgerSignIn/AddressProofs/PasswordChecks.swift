package import BlockingCalls
package import Ledger
package import Passwords
internal import Synchronization

/// Hashes and checks passwords, on threads of their own.
package final class PasswordChecks: Sendable {
    /// The wrong passwords that may be tried within an hour for one address, by one client network or one known
    /// device, and by all others.
    package static let triesPerNetwork = 20
    package static let triesPerAddress = 100
    /// The wrong passwords that may be tried within an hour by one client network for all addresses.
    package static let triesOfNetwork = 200
    /// The wrong passwords by which an account holder may try to agree to a change within an hour.
    package static let triesPerAccount = 20

    private let hashing: Mutex<PasswordHasher>
    private let pool: BlockingPool
    let store: any PasswordStore
    let codes: AddressCodes
    private let localParts: @Sendable (TenantID) -> EmailLocalParts
    private let failureTime: Duration
    private let pause: @Sendable (ContinuousClock.Instant) async -> Void
    private let onFault: @Sendable (String) -> Void

    /// Creates the service of a ledger.
    ///
    /// - Parameters:
    ///   - hasher: Hashes and verifies.
    ///   - pool: Bounds the number of passwords that are hashed or wait for it.
    ///   - store: Finds passwords by addresses.
    ///   - codes: Counts tries, and sends the codes of sign-ups and resets.
    ///   - localParts: Returns those of addresses that a tenant takes.
    ///   - failureTime: The minimum time from the beginning of a check until a wrong password is answered: longer
    ///     than any hash takes, so that the schemes of imported hashes don't tell accounts from unknown addresses.
    ///   - pause: Waits until a time.
    ///   - onFault: Called with one line, free of personal data, for a password whose pepper is missing.
    package init(
        hasher: PasswordHasher, pool: BlockingPool, store: any PasswordStore,
        codes: AddressCodes, localParts: @escaping @Sendable (TenantID) -> EmailLocalParts,
        failureTime: Duration = .zero,
        pause: @escaping @Sendable (ContinuousClock.Instant) async -> Void = {
            try? await Task.sleep(until: $0)
        },
        onFault: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        hashing = Mutex(hasher)
        self.pool = pool
        self.store = store
        self.codes = codes
        self.localParts = localParts
        self.failureTime = failureTime
        self.pause = pause
        self.onFault = onFault
    }

    private var hasher: PasswordHasher { hashing.withLock { $0 } }

    /// The keys of hashes.
    package var peppers: PasswordPeppers { hasher.peppers }

    /// Hashes and verifies with other keys from now on.
    package func use(_ peppers: PasswordPeppers) {
        hashing.withLock { $0 = $0.with(peppers) }
    }

    /// The failure of a computation.
    ///
    /// A password whose pepper is missing is not wrong: it can be checked again once the key is there.
    private func failure(_ error: any Error) -> CodeFailure {
        switch error {
        case is BlockingPool.Full: return .faulted(.overloaded)
        case HashingFault.unknownPepper(let id):
            onFault("the key directory lacks the pepper \(id)")
            return .faulted(.unavailable)
        default: return .faulted(.internalFailure)
        }
    }

    /// A password that is right.
    package struct Checked {
        /// The canonical form of its address.
        package let address: String
        package let names: [AddressName]
        package let stored: StoredPassword
    }

    /// Counts an address that a client claims.
    ///
    /// - Throws: `limited` when its network has claimed too many, `faulted`.
    package func countClaim(
        from network: String, in tenant: TenantID, at now: Timestamp
    ) async throws(CodeFailure) {
        let counts = codes.claimCounts(from: network, in: tenant)
        if let reached = try await codes.count(counts, in: tenant, at: now) {
            throw .limited(retryAfterSeconds: reached.waitSeconds)
        }
    }

    /// Sends the code that finishes a sign-up or confirms a claim; the hash of the password waits in the challenge.
    ///
    /// If an account has the address, its holder is told, and no code works. If an account has claimed it with this
    /// password, the code confirms the address. The result is the same.
    ///
    /// - Parameters:
    ///   - address: The canonical form.
    ///   - password: The password.
    ///   - hash: Its hash.
    ///   - mayBeClaimed: Whether accounts claim addresses: then the time does not tell whether one did.
    ///   - provider: The provider of the sign-up.
    ///   - providers: Those that find accounts by e-mail addresses.
    ///   - tenant: The tenant of the provider.
    ///   - network: The network of the client.
    ///   - language: The client's `Accept-Language`.
    ///   - now: The time of the request.
    /// - Returns: The id of the challenge.
    /// - Throws: `limited` when too many codes were sent, `faulted`.
    package func signUp(
        _ address: String, _ password: Password, hash: NewPassword, mayBeClaimed: Bool,
        of provider: ProviderName,
        among providers: [ProviderName], in tenant: TenantID, from network: String,
        language: String?, at now: Timestamp
    ) async throws(CodeFailure) -> ChallengeID {
        // Without the rule every sign-up takes the same time, and the holder of a former claim takes it over by the code.
        let claim =
            mayBeClaimed
            ? try await claim(
                of: address, password, hash, at: provider, in: tenant, from: network) : nil
        let isKnown = try await isUsed(address, at: providers, in: tenant)
        return try await codes.send(
            to: address, .email, of: provider, in: tenant,
            for: .signUp(hash, isKnown: isKnown, claim: claim), from: network, language: language,
            at: now)
    }

    /// Sends the code that confirms a claim, which a sign-up or a link has made.
    ///
    /// - Returns: The id of the challenge, which is the given one if there is one; nil for an address that is not
    ///   claimed with this password.
    /// - Throws: `limited` when too many codes were sent, `faulted`.
    package func confirm(
        _ address: String, _ password: Password, hash: NewPassword, of provider: ProviderName,
        in tenant: TenantID, as id: ChallengeID?, from network: String, language: String?,
        at now: Timestamp
    ) async throws(CodeFailure) -> ChallengeID? {
        guard
            let claim = try await claim(
                of: address, password, hash, at: provider, in: tenant, from: network)
        else { return nil }
        return try await codes.send(
            to: address, .email, of: provider, in: tenant,
            for: .signUp(hash, isKnown: false, claim: claim), as: id, from: network,
            language: language, at: now)
    }

    /// Returns the version of a password if it is that of the account that has claimed the address.
    private func claim(
        of address: String, _ password: Password, _ hash: NewPassword,
        at provider: ProviderName, in tenant: TenantID, from network: String
    ) async throws(CodeFailure) -> PasswordVersion? {
        let names = codes.names(of: address, .email, in: tenant)
        let found = try await find(names, at: provider, in: tenant)
        let stored = found.flatMap { $0.isClaimed ? $0 : nil }
        // The sign-up or the link has just set it.
        if let stored, stored.hash == hash.hash { return stored.version }
        let known = stored.flatMap { try? PasswordHash($0.hash) } ?? hasher.decoy()
        do {
            let isRight = try await pool.admit(for: .init(network)).run { [hasher] in
                try hasher.verify(password, against: known)
            }
            return isRight ? stored?.version : nil
        } catch {
            throw failure(error)
        }
    }

    /// Hashes a new password.
    ///
    /// - Throws: `faulted` when the pool or the share of the network is full, before anything else is done.
    package func hash(
        _ password: PreparedPassword, from network: String
    ) async throws(CodeFailure) -> NewPassword {
        do {
            let admission = try pool.admit(for: .init(network))
            let hash = try await admission.run { [hasher] in try hasher.hash(password) }
            return NewPassword(hash: hash.text)
        } catch {
            throw failure(error)
        }
    }

    /// Returns the names of the address of a refused sign-in if it is the first one within an hour.
    ///
    /// - Returns: nil for a further one, a network with many of them, a credential without an address, and a failure of
    ///   the store.
    package func firstRefused(
        _ body: PasswordBody, in tenant: TenantID, from network: String, at now: Timestamp
    ) async -> [AddressName]? {
        guard case .known(let typed, _, _, _) = body,
            let address = localParts(tenant).canonical(typed)
        else { return nil }
        let names = codes.names(of: address, .email, in: tenant)
        let counts = codes.refusalCounts(of: names, in: tenant, from: network)
        do {
            return try await codes.count(counts, in: tenant, at: now) == nil ? names : nil
        } catch {
            return nil
        }
    }

    /// The account holder who agrees to a change by a password of one of the account's identities.
    package struct Holder: Sendable {
        let account: AccountID
        let identities: Set<IdentityID>

        /// Describes a holder.
        package init(account: AccountID, identities: Set<IdentityID>) {
            self.account = account
            self.identities = identities
        }
    }

    /// Checks the password of a holder.
    ///
    /// That of another account is wrong, so that its tries need no limit of the address, which strangers could use up.
    ///
    /// - Throws: As for a sign-in.
    package func check(
        _ typed: String, _ password: Password, at provider: ProviderName, by holder: Holder,
        in tenant: TenantID, from network: String, at now: Timestamp
    ) async throws(CodeFailure) -> Checked {
        try await check(
            typed, password, of: provider, by: holder, in: tenant, from: network, knownAs: nil,
            at: now)
    }

    /// Returns the present version of the password that the code of a reset or of a claim was sent for.
    ///
    /// - Throws: `wrong` when it was replaced since.
    func version(
        of challenge: StoredChallenge, _ names: [AddressName]
    ) async throws(CodeFailure) -> PasswordVersion {
        let known = try await find(names, at: challenge.provider, in: challenge.tenant)
        guard let version = known?.version, challenge.plan == AddressCodes.digest(of: version)
        else { throw .wrong }
        return version
    }

    /// Checks a password.
    ///
    /// A text that is no address, an unknown address, an account without a password, and another account than that of
    /// the holder cost as much as a wrong password, and take as long. With a code to the address, the limit of the
    /// address does not hold; the code is used up before the password is looked up.
    ///
    /// - Returns: The address with its names, and the stored password.
    /// - Throws: `wrong`, `wrongCode`, `limited` or `codeNeeded` after too many wrong passwords, `faulted`.
    func check(
        _ typed: String, _ password: Password, with code: CodeBody? = nil,
        of provider: ProviderName, by holder: Holder? = nil, in tenant: TenantID,
        from network: String, knownAs device: String?, at now: Timestamp
    ) async throws(CodeFailure) -> Checked {
        let address = localParts(tenant).canonical(typed) ?? "@"
        let device = codes.device(device, of: address, .email, in: tenant, at: now)
        // Known by its network: one person may have any number of devices. Nothing is looked up before the admission,
        // so a device whose token has ended may take such a place, too.
        let client = BlockingPool.Client(network, isKnown: device != nil)
        let admission: BlockingPool.Admission
        do { admission = try pool.admit(for: client) } catch { throw .faulted(.overloaded) }
        let names = codes.names(of: address, .email, in: tenant)
        let deviceName = try await codes.name(of: device, for: names, in: tenant)
        let counts =
            if let holder {
                codes.passwordCounts(of: holder.account, in: tenant)
            } else {
                codes.passwordCounts(
                    of: names, in: tenant, from: network, by: deviceName, isProved: code != nil)
            }
        if let reached = try await codes.count(counts, in: tenant, at: now) {
            guard reached.kind == nil else {
                throw .codeNeeded(retryAfterSeconds: reached.waitSeconds)
            }
            throw .limited(retryAfterSeconds: reached.waitSeconds)
        }
        if let code {
            do throws(CodeFailure) {
                _ = try await codes.check(
                    code, of: provider, in: tenant, for: .password(of: address), from: network,
                    at: now)
            } catch .wrong {
                throw .wrongCode
            }
        }
        let found = try await find(names, at: provider, in: tenant)
        let hasher = self.hasher
        let stored = found.flatMap {
            holder?.identities.contains($0.version.identity) == false ? nil : $0
        }
        let hash = stored.flatMap { try? PasswordHash($0.hash) } ?? hasher.decoy()
        let (isRight, begin): (Bool, ContinuousClock.Instant)
        do {
            // The wait for a thread is no part of the minimum time: beyond it, the scheme would show.
            (isRight, begin) = try await admission.run { [hasher] in
                let begin = ContinuousClock.now
                return (try hasher.verify(password, against: hash), begin)
            }
        } catch {
            throw failure(error)
        }
        guard isRight, let stored else {
            await pause(begin + failureTime)
            throw .wrong
        }
        try await codes.uncount(counts, in: tenant)
        if hasher.needsRehash(hash) { renew(stored, hash, password, in: tenant, for: client) }
        return Checked(address: address, names: names, stored: stored)
    }

    /// Hashes a verified password with the current parameters, without delaying the answer.
    ///
    /// A scheme that ignores the end of a long password also accepts typing errors there, so such a hash stays.
    /// The next sign-in renews a hash that the full pool or a fault of the store has left.
    private func renew(
        _ stored: StoredPassword, _ hash: PasswordHash, _ password: Password, in tenant: TenantID,
        for client: BlockingPool.Client
    ) {
        guard hash.comparesWhole(password), let prepared = password.prepared else { return }
        Task { [hasher, pool, store] in
            let hash = try await pool.admit(for: client).run { try hasher.hash(prepared) }
            try await store.replace(stored, by: NewPassword(hash: hash.text), in: tenant)
        }
    }

    func find(
        _ names: [AddressName], at provider: ProviderName, in tenant: TenantID
    ) async throws(CodeFailure) -> StoredPassword? {
        do { return try await store.password(of: names, at: provider, in: tenant) } catch {
            throw .faulted(error)
        }
    }

    private func isUsed(
        _ address: String, at providers: [ProviderName], in tenant: TenantID
    ) async throws(CodeFailure) -> Bool {
        do {
            return try await store.isUsed(
                codes.names(of: address, .email, in: tenant), at: providers, in: tenant)
        } catch {
            throw .faulted(error)
        }
    }
}
