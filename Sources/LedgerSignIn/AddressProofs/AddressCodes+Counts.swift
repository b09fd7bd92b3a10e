internal import Cryptography
import Ledger

/// The counts that limit how many codes are sent and tried. Those of a known device and of an account holder are their
/// own, so that strangers can't use them up.
extension AddressCodes {
    /// The clients of codes by SMS, by their part of the limits.
    private enum Client {
        case stranger
        /// The holder of an established account, who enrols a phone.
        case holder
        /// A device that has signed in with the number, or a person after the first step.
        case known
    }

    /// Returns the counts of a code to be sent.
    ///
    /// Codes of a second factor count by the factor, so that knowledge of the number alone does not exhaust them. Those
    /// that an account holder requests count by the account, those of strangers by the group of their use.
    func sendCounts(
        of challenge: StoredChallenge, for use: Use, from network: String, knownAs token: String?,
        at now: Timestamp
    ) async throws(CodeFailure) -> [CodeCount] {
        let (tenant, digest) = (challenge.tenant, challenge.name.digest)
        let (address, kind) = (challenge.address, challenge.name.kind)
        let client: Client
        var counts: [CodeCount?]
        if case .secondStep(_, let factor) = use {
            let device = try await name(
                of: self.device(token, of: factor.holder, in: tenant, at: now), for: [],
                factor.holder, in: tenant)
            client = .known
            let digest = Self.digest(of: factor)
            counts = [
                counted(
                    "factor sent to", digest, device ?? "", Self.sendsPerAddress, tenant, .address),
                // An account holder can have any number of known devices.
                device == nil
                    ? nil
                    : counted(
                        "factor sent to devices", digest, "", Self.sendsToDevices, tenant,
                        .address),
            ]
        } else if let account = use.account?.description {
            // Sessions are free where anybody may sign up, so an account is no known client.
            client = use.isOfEstablished ? .holder : .stranger
            counts = [
                counted("sent to account", digest, account, Self.sendsPerAddress, tenant, .address),
                counted("sent to accounts", digest, "", Self.sendsForAccounts, tenant, .address),
                counted("sent for account", .zero, account, Self.sendsPerAccount, tenant, .address),
            ]
        } else if let device = try await name(
            of: self.device(token, of: address, kind, in: tenant, at: now),
            for: names(of: address, kind, in: tenant), in: tenant)
        {
            client = .known
            counts = [
                counted(
                    "sent to device", digest, device, Self.sendsPerAddress, tenant, .address),
                counted("sent to devices", digest, "", Self.sendsToDevices, tenant, .address),
            ]
        } else {
            client = .stranger
            counts = [counted(use.group, digest, "", Self.sendsPerAddress, tenant, .address)]
        }
        counts += textCounts(of: challenge, for: use, by: client)
        counts.append(
            counted("sent for", .zero, network, Self.sendsPerNetwork, tenant, .network))
        return counts.compactMap { $0 }
    }

    /// Returns the counts of a text message, which costs money; empty for an e-mail.
    ///
    /// Whether an account has the number is not asked, since no answer may depend on it. So a fifth of the tenant's
    /// messages, and ranges with many unanswered codes, are for known devices and second factors: their numbers
    /// were confirmed. A session alone confirms no number, and an account can be opened to wait for its time; so
    /// holders of established accounts get half of that part, which leaves the other half whatever they do.
    private func textCounts(
        of challenge: StoredChallenge, for use: Use, by client: Client
    ) -> [CodeCount?] {
        guard challenge.name.kind == .phone else { return [] }
        let tenant = challenge.tenant
        let limit = textsMax(tenant)
        // Most are never sent, so none comes back: they must not use up the limits of the others.
        if case .takeBack = use {
            return [counted("texts of returns", .zero, "", max(1, limit / 5), tenant, .tenant)]
        }
        let part = limit / 5
        let (kept, factor): (Int, Int) =
            switch client {
            case .stranger: (part, 1)
            case .holder: ((part + 1) / 2, 2)
            case .known: (0, 10)
            }
        return [
            counted("texts", .zero, "", limit - kept, tenant, .tenant),
            unanswered(of: challenge, limit: factor * Self.unansweredPerPrefix),
        ]
    }

    /// Returns the count of the codes to a number's range of ten thousand that did not come back; nil for an e-mail.
    func unanswered(of challenge: StoredChallenge, limit: Int = .max) -> CodeCount? {
        guard challenge.name.kind == .phone else { return nil }
        return counted(
            "unanswered of", .zero, String(challenge.address.dropLast(4)), limit,
            challenge.tenant, .prefix)
    }

    /// Returns the counts of a tried code; empty for a second factor, whose tries count by the factor.
    ///
    /// An account holder who tries a code of the own session has the account's tries, and all of them together have a
    /// limit, since accounts are free where anyone may sign up. A device whose token has ended keeps its tries: it gets
    /// codes as a stranger does.
    func tryCounts(
        of body: CodeBody, for challenge: StoredChallenge, _ use: RequiredUse,
        from network: String, at now: Timestamp
    ) -> [CodeCount] {
        if case .secondStep = use { return [] }
        let (tenant, digest) = (challenge.tenant, challenge.name.digest)
        let device = self.device(
            body.deviceToken, of: challenge.address, challenge.name.kind, in: tenant, at: now)
        let counts: [CodeCount?] =
            if let device {
                [counted("tried by device", digest, device.name, Self.triesPerNetwork, tenant)]
            } else if let holder = use.holder, challenge.session == holder.session {
                [
                    counted(
                        "tried by account", digest, holder.account.description,
                        Self.triesPerNetwork, tenant),
                    counted("tried by accounts", digest, "", Self.triesPerAddress, tenant),
                ]
            } else {
                [
                    counted("tried by", digest, network, Self.triesPerNetwork, tenant),
                    counted("tried for", digest, "", Self.triesPerAddress, tenant),
                ]
            }
        return counts.compactMap { $0 }
    }

    /// Returns the counts of a wrong password.
    ///
    /// Those of a stranger count by the network alone, too: few passwords tried with many addresses are guesses as well.
    /// A device that is known to the address counts by its name. The limit of the address, which strangers can use up,
    /// is not that of a client that reads its messages.
    func passwordCounts(
        of names: [AddressName], in tenant: TenantID, from network: String, by device: String?,
        isProved: Bool
    ) -> [CodeCount] {
        guard let digest = names.first?.digest else { return [] }
        let limit = PasswordChecks.triesPerNetwork
        let counts: [CodeCount?] =
            if let device {
                [counted("password by device", digest, device, limit, tenant)]
            } else {
                [
                    counted("password by", digest, network, limit, tenant),
                    counted(
                        "passwords by", .zero, network, PasswordChecks.triesOfNetwork, tenant),
                    isProved
                        ? nil
                        : counted(
                            "password for", digest, "", PasswordChecks.triesPerAddress, tenant,
                            .address),
                ]
            }
        return counts.compactMap { $0 }
    }

    /// Returns the count of the wrong passwords of an account holder, who agrees to a change by the account's own.
    func passwordCounts(of account: AccountID, in tenant: TenantID) -> [CodeCount] {
        let limit = PasswordChecks.triesPerAccount
        return [
            counted("password of account", .zero, account.description, limit, tenant)
        ].compactMap { $0 }
    }

    /// Returns the count of the addresses that a client network claims.
    func claimCounts(from network: String, in tenant: TenantID) -> [CodeCount] {
        [counted("claimed by", .zero, network, Self.sendsPerNetwork, tenant)].compactMap { $0 }
    }

    /// Returns the counts of a wrong second factor.
    ///
    /// A code of six digits can be guessed, so such a factor also has limits for all networks together, one of them
    /// for 90 days. A recovery code and the response of a passkey cannot, so strangers don't use up these ways in.
    func factorCounts(
        of factor: HeldFactor, in tenant: TenantID, from network: String, knownAs token: String?,
        at now: Timestamp
    ) async throws(CodeFailure) -> [CodeCount] {
        let digest = Self.digest(of: factor)
        let device = try await name(
            of: self.device(token, of: factor.holder, in: tenant, at: now), for: [], factor.holder,
            in: tenant)
        let other = device ?? network
        var counts = [counted("factor by", digest, other, Self.triesPerNetwork, tenant)]
        if factor.kind.isGuessable {
            if device == nil {
                counts.append(counted("factor for", digest, "", Self.triesPerAddress, tenant))
            }
            counts.append(
                counted(
                    "factor for long", digest, device ?? "", Self.factorTriesMax, tenant,
                    windowSeconds: Self.factorTriesSeconds))
        }
        return counts.compactMap { $0 }
    }

    /// Returns the counts of the recorded refusals of sign-ins with an address: one an hour, and few of one network,
    /// which could otherwise add an entry for each address that it knows.
    func refusalCounts(
        of names: [AddressName], in tenant: TenantID, from network: String
    ) -> [CodeCount] {
        guard let digest = names.first?.digest else { return [] }
        return [
            counted("refused for", digest, "", 1, tenant),
            counted("refused by", .zero, network, PasswordChecks.triesPerNetwork, tenant),
        ].compactMap { $0 }
    }

    /// Returns the count of the codes of browser flows, the access tokens and the attestations that are refused.
    func exchangeCounts(from network: String, in tenant: TenantID) -> [CodeCount] {
        [counted("flow by", .zero, network, Self.exchangesPerNetwork, tenant)].compactMap { $0 }
    }

    private static func digest(of factor: HeldFactor) -> Digest {
        Digest(SHA256.hash("factor:\(factor.id)")) ?? .zero
    }

    private func counted(
        _ action: String, _ address: Digest, _ network: String, _ limit: Int, _ tenant: TenantID,
        _ kind: CodeLimit? = nil, windowSeconds: Int64 = CodeCount.windowSeconds
    ) -> CodeCount? {
        let message = Self.message([action, tenant.description, address.description, network])
        return keys.macs(of: message, .count).first.flatMap { Digest($0.mac) }
            .map {
                CodeCount(scope: $0, limit: limit, windowSeconds: windowSeconds, kind: kind)
            }
    }
}

extension AddressCodes.Use {
    /// The account whose holder requests the code; nil for anybody else.
    fileprivate var account: AccountID? {
        switch self {
        case .link(let caller), .change(let caller), .merge(let caller, _),
            .enrolment(let caller, _):
            caller.account
        case .signIn, .password, .signUp, .reset, .takeBack, .secondStep: nil
        }
    }

    /// Whether the holder of an established account enrols a phone.
    fileprivate var isOfEstablished: Bool {
        if case .enrolment(_, let isEstablished) = self { isEstablished } else { false }
    }

    /// The group of uses of a stranger's code that are counted together: who uses up the codes of one group does not
    /// block the others.
    fileprivate var group: String {
        switch self {
        case .signUp: "sent to sign up"
        case .reset, .takeBack: "sent to recover"
        case .signIn, .password, .secondStep, .link, .change, .merge, .enrolment: "sent to"
        }
    }
}
