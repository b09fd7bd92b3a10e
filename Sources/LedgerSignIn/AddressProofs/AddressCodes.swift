package import Cryptography
internal import Encodings
package import Ledger
internal import Synchronization

/// Sends codes to addresses, and checks those that come back.
///
/// A code has six digits and proves nothing without the 128 random bits of its challenge. Its stored digest is keyed
/// and covers the whole challenge, so access to the database alone neither reveals a code nor makes a challenge of
/// another one.
package final class AddressCodes: Sendable {
    enum Purpose: String, CaseIterable {
        case code
        case count
        case device
    }

    /// The digits of a code.
    private static let digits = 6
    static let label = "account-ledger code "
    /// The beginning of the text in challenges of second factors, which answer nothing else.
    static let factorPrefix = "factor:"
    /// The texts in challenges of changes of addresses, which answer nothing else.
    static let changeText = "address:change"
    static let returnText = "address:return"

    /// The codes that may be sent to one address within an hour: for one group of uses by strangers, for one known
    /// device, and for one account.
    package static let sendsPerAddress = 5
    /// The same for all devices that have signed in with the address before.
    package static let sendsToDevices = 10
    /// The same for all accounts whose holders request them.
    package static let sendsForAccounts = 10
    /// The codes that one account may request for all addresses within an hour, and one client network.
    package static let sendsPerAccount = 10
    package static let sendsPerNetwork = 30
    /// The codes that may be sent within an hour to the phone numbers of a range without an answer.
    package static let unansweredPerPrefix = 50
    /// The age of a proof by which an account is established: it was hardly opened for the next code.
    package static let establishedSeconds: Int64 = 7 * 86_400
    /// The wrong codes that may be tried within an hour for one address: by one client network, one known device or the
    /// holder of one account, and by all networks or all such accounts.
    package static let triesPerNetwork = 10
    package static let triesPerAddress = 20
    /// The codes of browser flows, the access tokens and the attestations that may be refused to one client network
    /// within an hour.
    package static let exchangesPerNetwork = 100

    /// The wrong codes of one second factor within 90 days, by one known device and by all others: each guess of a
    /// code of six digits has three chances in a million.
    package static let factorTriesMax = 100
    package static let factorTriesSeconds: Int64 = 90 * 86_400

    let keys: PurposeKeys<Purpose>
    private let names: AddressNames
    let store: any ChallengeStore
    let textsMax: @Sendable (TenantID) -> Int
    private let refused = Mutex<[CodeLimit: Int]>([:])
    private let random: @Sendable () -> UInt128

    /// Creates the service of a ledger.
    ///
    /// - Parameters:
    ///   - current: The name of the encryption key in use.
    ///   - keys: Every encryption key by its name.
    ///   - store: Stores the challenges.
    ///   - textsMax: Returns the codes that a tenant sends by SMS within an hour.
    ///   - random: Returns unpredictable bits.
    package init(
        current: String, keys: [String: SymmetricKey], store: any ChallengeStore,
        textsMax: @escaping @Sendable (TenantID) -> Int,
        random: @escaping @Sendable () -> UInt128
    ) {
        self.keys = PurposeKeys(label: Self.label, current: current, secrets: keys)
        names = AddressNames(current: current, keys: keys)
        self.store = store
        self.textsMax = textsMax
        self.random = random
    }

    /// The codes that this process has refused to send, by the limit.
    package var refusals: [CodeLimit: Int] { refused.withLock(\.self) }

    /// Replaces the keys.
    package func use(current: String, keys: [String: SymmetricKey]) {
        self.keys.use(current: current, secrets: keys)
        names.use(current: current, keys: keys)
    }

    /// The use of a code that a client requests.
    package enum Use: Sendable {
        case signIn
        /// A password that strangers have tried too often; whether an account has one with the address.
        case password(isKnown: Bool)
        /// A link by this account holder, or a sign-in.
        case link(Caller)
        /// The confirmation of a sign-up with this password; an account may have the address, or have claimed it with
        /// the same password, of this version.
        case signUp(NewPassword, isKnown: Bool, claim: PasswordVersion?)
        /// The reset of a password of this version; nil when no account has one with the address.
        case reset(PasswordVersion?)
        /// The enrolment of the number as a second factor by this account holder, whose account may be established.
        case enrolment(Caller, isEstablished: Bool)
        /// This second factor, after the first step that the text names.
        case secondStep(String, HeldFactor)
        /// The replacement of an address of the account by its holder.
        case change(Caller)
        /// The return of a former address; whether it can be taken back.
        case takeBack(isPossible: Bool)
        /// A merge by this account holder under the plan with this digest.
        case merge(Caller, plan: String)
    }

    /// Sends a code to an address.
    ///
    /// Whether an account has the address changes nothing: neither the result nor what is stored.
    ///
    /// - Parameters:
    ///   - address: The canonical form.
    ///   - kind: The kind of the address.
    ///   - provider: The provider whose credential the code is.
    ///   - tenant: The tenant of the provider.
    ///   - use: The use of the code.
    ///   - id: The id of a request that may be repeated: a repetition sends no other code; nil for a random one.
    ///   - network: The network of the client.
    ///   - device: The device token of the client; ignored for another address or account.
    ///   - language: The client's `Accept-Language`.
    ///   - now: The time of the request.
    /// - Returns: The id of the challenge.
    /// - Throws: `limited` when too many codes were sent.
    package func send(
        to address: String, _ kind: AddressKind, of provider: ProviderName, in tenant: TenantID,
        for use: Use, as id: ChallengeID? = nil, from network: String,
        knownAs device: String? = nil, language: String?, at now: Timestamp
    ) async throws(CodeFailure) -> ChallengeID {
        guard let name = names(of: address, kind, in: tenant).first else {
            throw .faulted(.internalFailure)
        }
        let code = Self.code(from: random())
        let purpose: CodeMessage.Purpose
        var isSent = true
        var secret: String?
        var session: SessionID?
        var plan: Digest?
        var account: AccountID?
        switch use {
        case .signIn: purpose = .signIn
        case .password(let isKnown): (purpose, isSent) = (.signIn, isKnown)
        case .signUp(let password, let isKnown, let claim):
            (purpose, secret) = (isKnown ? .addressKnown : .signUp, password.hash)
            plan = claim.map(Self.digest(of:))
        case .reset(let version):
            (purpose, isSent) = (.reset, version != nil)
            plan = version.map(Self.digest(of:)) ?? .zero
        case .link(let caller): (purpose, session) = (.link, caller.session)
        case .enrolment(let caller, _):
            (purpose, session, secret) = (.secondFactor, caller.session, Self.factorPrefix)
            account = caller.account
        case .secondStep(let step, let factor):
            (purpose, secret) = (.secondFactor, Self.factorPrefix + step)
            account = factor.holder
        case .change(let caller):
            (purpose, session, secret) = (.address, caller.session, Self.changeText)
        case .takeBack(let isPossible):
            (purpose, isSent, secret) = (.address, isPossible, Self.returnText)
        case .merge(let caller, let text):
            (purpose, session, plan) = (.merge, caller.session, Self.digest(ofPlan: text))
        }
        let id = id ?? ChallengeID(bits: random())
        let expiresAt = now.adding(seconds: StoredChallenge.lifetimeSeconds)
        let unsigned = StoredChallenge(
            id: id, tenant: tenant, provider: provider, session: session, plan: plan, name: name,
            address: address, secret: secret, codeDigest: .zero, expiresAt: expiresAt)
        guard let digest = digest(of: code, for: unsigned) else { throw .faulted(.internalFailure) }
        let challenge = StoredChallenge(
            id: id, tenant: tenant, provider: provider, session: session, plan: plan, name: name,
            address: address, secret: secret, codeDigest: digest, expiresAt: expiresAt)
        let counts = try await sendCounts(
            of: challenge, for: use, from: network, knownAs: device, at: now)
        let reached = try await stored { () async throws(LedgerFault) in
            try await self.store.open(
                challenge,
                CodeMessage(
                    purpose: purpose, code: code, language: language, isSent: isSent,
                    account: account),
                counting: counts, at: now)
        }
        if let reached {
            if let kind = reached.kind { refused.withLock { $0[kind, default: 0] += 1 } }
            throw .limited(retryAfterSeconds: reached.waitSeconds)
        }
        return id
    }

    /// Checks a code, which must have been sent for the use: one that was sent for another use counts as wrong.
    ///
    /// - Returns: The challenge that it answers, with the names of its address by every key.
    /// - Throws: `wrong` also for a challenge that has ended or is unknown.
    func check(
        _ body: CodeBody, of provider: ProviderName, in tenant: TenantID, for use: RequiredUse,
        from network: String, at now: Timestamp
    ) async throws(CodeFailure) -> (challenge: StoredChallenge, names: [AddressName]) {
        guard let id = body.challenge, body.code.utf8.count == Self.digits else { throw .wrong }
        let tried = try await stored { () async throws(LedgerFault) in
            try await self.store.tryCode(of: id, in: tenant, at: now) { challenge in
                let digest = self.digest(of: body.code, for: challenge)
                let isEqual =
                    digest.map {
                        constantTimeEqual($0.bytes, challenge.codeDigest.bytes)
                    } ?? false
                let isForUse = challenge.provider == provider && use.accepts(challenge)
                return ComparedCode(
                    isRight: isEqual && isForUse,
                    counts: self.tryCounts(
                        of: body, for: challenge, use, from: network, at: now),
                    lowers: [self.unanswered(of: challenge)].compactMap(\.self),
                    isUsedUp: use.usesUp)
            }
        }
        switch tried {
        case .limited(let wait): throw .limited(retryAfterSeconds: wait)
        case nil, .wrong: throw .wrong
        case .right(let challenge):
            return (challenge, names(of: challenge.address, challenge.name.kind, in: tenant))
        }
    }

    /// Adds one to counts, unless one of them has reached its limit; returns that one then.
    func count(
        _ counts: [CodeCount], in tenant: TenantID, at now: Timestamp
    ) async throws(CodeFailure) -> ReachedCount? {
        try await stored { () async throws(LedgerFault) in
            try await self.store.count(counts, in: tenant, at: now)
        }
    }

    /// Returns a count that has reached its limit; nil without one.
    func reached(
        _ counts: [CodeCount], in tenant: TenantID, at now: Timestamp
    ) async throws(CodeFailure) -> ReachedCount? {
        try await stored { () async throws(LedgerFault) in
            try await self.store.reached(counts, in: tenant, at: now)
        }
    }

    /// Subtracts what ``count(_:in:at:)`` added.
    func uncount(_ counts: [CodeCount], in tenant: TenantID) async throws(CodeFailure) {
        try await stored { () async throws(LedgerFault) in
            try await self.store.uncount(counts, in: tenant)
        }
    }

    func stored<Value>(
        _ body: () async throws(LedgerFault) -> Value
    ) async throws(CodeFailure) -> Value {
        do {
            return try await body()
        } catch {
            throw .faulted(error)
        }
    }

    /// Returns the names of an address by every key, first by the one in use.
    package func names(
        of address: String, _ kind: AddressKind, in tenant: TenantID
    ) -> [AddressName] {
        names.all(of: address, kind, in: tenant)
    }

    /// Returns the digest of a code by the key of its challenge; nil when the key is gone.
    private func digest(of code: String, for challenge: StoredChallenge) -> Digest? {
        let message = Self.message([
            code, challenge.tenant.description, challenge.id.description,
            challenge.provider.description, challenge.session?.description ?? "",
            challenge.plan?.description ?? "", challenge.name.kind.rawValue, challenge.address,
            challenge.name.digest.description, challenge.secret ?? "",
            String(challenge.expiresAt.microseconds),
        ])
        return keys.macs(of: message, .code).first { $0.key == challenge.name.key }
            .flatMap { Digest($0.mac) }
    }

    /// Returns the texts, each with its length, so that different lists have different bytes.
    static func message(_ texts: [String]) -> [UInt8] {
        Array(texts.map { "\($0.utf8.count):\($0)" }.joined().utf8)
    }

    /// Returns the digest of the text by which a client agrees to a merge plan.
    static func digest(ofPlan text: String) -> Digest? { Digest(SHA256.hash(text)) }

    /// Returns the digest of the password that a reset replaces, or that a code confirms the address of.
    static func digest(of version: PasswordVersion) -> Digest {
        Digest(SHA256.hash("reset:\(version.identity):\(version.version)")) ?? .zero
    }

    /// Returns a code; the remainder prefers no code by more than one in 10^32.
    private static func code(from random: UInt128) -> String {
        let number = String(random % 1_000_000)
        return String(repeating: "0", count: digits - number.count) + number
    }
}
