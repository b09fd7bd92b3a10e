package import Ledger

/// A generator of random commands on few people, sessions and subjects, so that they interact.
///
/// It learns existing sessions and refresh tokens from the replies, as a client does.
package struct RandomCommands: Sendable {
    /// The providers whose identities the commands use.
    package static let providers = ["apple", "google", "facebook"].map(provider)

    /// The provider of anonymous accounts.
    package static let anonymous = provider("anonymous")

    /// The provider that sends codes to e-mail addresses.
    package static let email = provider("email")

    /// The provider that sends codes to phone numbers, which no random command has.
    package static let phone = provider("phone")

    /// The provider of passwords, with which random commands claim addresses.
    package static let password = provider("password")

    /// The provider whose identities are passkeys.
    package static let passkey = provider("passkey")

    /// The rules of the commands, with budgets that they do not exhaust.
    package static func policy(hasEveryType: Bool) -> TenantPolicy {
        var policy = SequencerFixture.unlimitedPolicy
        if hasEveryType {
            policy.providers[anonymous] = ProviderPin(type: .anonymous, issuers: [])
            policy.providers[email] = ProviderPin(type: .email, issuers: [])
            policy.providers[password] = ProviderPin(type: .password, issuers: [])
            policy.confirmLater = true
        }
        return policy
    }

    /// The e-mails of sign-ins: none, verified or unverified.
    private static let emails = [
        nil, Email("a@b.c", isVerified: true), Email("a@b.c", isVerified: false),
        Email("a@b.c", isVerified: nil),
    ]

    private let tenant: TenantID
    let subjectsPerProvider: Int
    private let hasEveryType: Bool
    let unitesFactors: Bool
    let undoesByTwo: Bool
    var generator: SeededGenerator
    var callers: [Caller] = []
    private var tokens: [(session: SessionID, tokens: [Digest])] = []
    var lastToken: Digest?
    private var holds: [(account: AccountID, hold: HoldID)] = []
    private var lastHeld: AccountID?
    private var disabled: [AccountID] = []
    /// The factors that accounts may have, with the last used counter.
    var factors: [(account: AccountID, factor: FactorID, kind: FactorKind, counter: Int64)] = []
    var lastEnrolled: EnrolFactor?
    private var lastSignIn: SignIn?
    /// The callers that may be reached by an address, and addresses that may be former ones.
    var reached: [(caller: Caller, address: String)] = []
    var formerAddresses: [String] = []
    var lastChange: (former: String, address: String)?
    /// The factor whose removal was planned last, which its holder then keeps.
    private var losing: PlanFactorRemoval.Plan?
    private var unlinks = RandomUnlinkPlans()
    /// The account that refused the last sign-in without a second factor.
    private var refusing: AccountID?
    /// The merge with the last requested plan, or the undoing that was asked for last, which the next command executes.
    private var planned: Command.Intent?
    var lastPlanned: MergeAccounts?
    var lastUndoing: UnmergeAccounts?
    var merges: [(event: EventID, survivor: AccountID, absorbed: AccountID)] = []

    /// Starts at a seed; few subjects make many conflicts.
    ///
    /// On request some accounts are anonymous or found by addresses, for ``policy(hasEveryType:)``, and most merges are
    /// such as unite second factors; two persons may undo these.
    package init(
        tenant: TenantID = .default, seed: UInt64, subjectsPerProvider: Int = 4,
        hasEveryType: Bool = false, unitesFactors: Bool = false, undoesByTwo: Bool = false
    ) {
        self.hasEveryType = hasEveryType
        self.unitesFactors = unitesFactors
        self.undoesByTwo = undoesByTwo
        self.tenant = tenant
        self.subjectsPerProvider = subjectsPerProvider
        generator = SeededGenerator(seed: seed)
    }

    /// Returns the next command.
    package mutating func next() -> Command {
        let agreed = planned.take()
        let intent: Command.Intent =
            if let agreed {
                agreed
            } else if let plan = losing.take(),
                let holder = callers.last(where: { $0.account == plan.account })
            {
                .removeFactor(RemoveFactor(plan.factor, by: .keptByHolder(holder)))
            } else if let ending = unlinks.end(by: callers, using: &generator) {
                ending
            } else if let account = refusing.take(), let refused = lastSignIn {
                secondStep(refused, account)
            } else {
                randomIntent()
            }
        return Command(
            id: generator.id(), tenant: tenant,
            origin: Command.Origin(
                request: generator.id(), clientIP: "203.0.113.7", userAgent: "test"),
            intent: intent)
    }

    private mutating func randomIntent() -> Command.Intent {
        // Factors and merges are rare otherwise.
        switch unitesFactors && !callers.isEmpty ? Int.random(in: 0..<8, using: &generator) : 8 {
        case 0, 1: changeFactors()
        case 2, 3: merge()
        case 4...5 where undoesByTwo: unmerge()
        default: anyIntent()
        }
    }

    private mutating func anyIntent() -> Command.Intent {
        switch Int.random(in: 0..<100, using: &generator) {
        case ..<29: signIn()
        case ..<56: callers.isEmpty ? signIn() : link()
        case ..<76: callers.isEmpty ? signIn() : unlink()
        case ..<83: callers.isEmpty ? signIn() : signOut()
        case ..<86: callers.isEmpty ? signIn() : administer()
        case ..<90: callers.isEmpty ? signIn() : merge()
        case ..<92: callers.isEmpty ? signIn() : unmerge()
        case ..<93: callers.isEmpty ? signIn() : setRules()
        case ..<94: callers.isEmpty ? signIn() : changeAccess()
        case ..<95: callers.isEmpty ? signIn() : changeFactors()
        case ..<96 where !reached.isEmpty: changeAddress()
        default: tokens.isEmpty ? signIn() : refresh()
        }
    }

    /// Learns from the reply to the last command.
    package mutating func learn(_ result: Result<Reply, Refusal>) {
        unlinks.learn(result)
        switch result {
        case .success(.signedIn(let grant, _)):
            let caller = Caller(account: grant.account, session: grant.session)
            callers.append(caller)
            if let address = lastSignIn?.proof.address?.text {
                reached.append((caller: caller, address: address))
            }
            if let lastToken { tokens.append((session: grant.session, tokens: [lastToken])) }
        case .success(.refreshed(let grant, .fresh)):
            guard let lastToken,
                let index = tokens.firstIndex(where: { $0.session == grant.session })
            else { return }
            tokens[index].tokens.append(lastToken)
        case .success(.addressChanged(let grant)):
            let caller = Caller(account: grant.account, session: grant.session)
            callers.append(caller)
            guard let changed = lastChange else { return }
            reached.append((caller: caller, address: changed.address))
            formerAddresses.append(changed.former)
        case .success(.factorEnrolled(let isFirst, let grant)):
            guard let enrolled = lastEnrolled else { return }
            for factor in [enrolled.factor] + (isFirst ? [enrolled.recoveryCodes] : []) {
                factors.append(
                    (
                        account: enrolled.caller.account, factor: factor.id, kind: factor.kind,
                        counter: 0
                    ))
            }
            if let grant { callers.append(Caller(account: grant.account, session: grant.session)) }
        case .failure(.secondFactorRequired(let account)): refusing = account
        case .success(.factorRemovalPlanned(let plan, _?)): losing = plan.due == nil ? nil : plan
        case .success(.holdSet(let hold)):
            if let lastHeld { holds.append((account: lastHeld, hold: hold)) }
        case .success(.mergePlanned(let plan, let digest)):
            guard let asked = lastPlanned else { return }
            planned = .mergeAccounts(asked.agreed(to: plan, digest))
        case .success(.unmergeAsked(let digest)):
            planned = lastUndoing?.confirmed(digest).map { .unmergeAccounts($0) }
        case .success(.merged(let plan, let event?)):
            merges.append((event: event, survivor: plan.survivor, absorbed: plan.absorbed))
        case .success, .failure: break
        }
    }

    private mutating func signIn() -> Command.Intent {
        let token = digest(generator.bytes(32))
        lastToken = token
        let subject = randomSubject()
        let isAnonymous = subject.provider == Self.anonymous
        let signIn = SignIn(
            randomProof(
                subject,
                email: isAnonymous ? nil : Self.emails.randomElement(using: &generator) ?? nil,
                authenticatedAt: Timestamp(seconds: 1_000_000_000_000),
                methods: isAnonymous ? .anonymous : .federated),
            createAccount: Int.random(in: 0..<5, using: &generator) > 0, refreshToken: token,
            newAccount: generator.id(), newIdentity: generator.id(), newSession: generator.id())
        lastSignIn = signIn
        return .signIn(signIn)
    }

    /// Finishes a sign-in with a factor of the account, a code that was used, or a wrong one.
    private mutating func secondStep(_ refused: SignIn, _ account: AccountID) -> Command.Intent {
        let token = digest(generator.bytes(32))
        lastToken = token
        var use: FactorUse?
        if Int.random(in: 0..<5, using: &generator) > 0,
            let index = factors.indices.filter({ factors[$0].account == account })
                .randomElement(using: &generator)
        {
            factors[index].counter += Int64.random(in: 0...2, using: &generator)
            use = FactorUse(
                factor: factors[index].factor, counter: min(factors[index].counter, 9))
        }
        return .signIn(
            SignIn(
                refused.proof,
                secondFactor: SecondFactorProof(
                    token: SingleUseIDToken(
                        digest: digest(generator.bytes(32)),
                        expiresAt: Timestamp(seconds: 2_000_000_000)),
                    account: account, use: use),
                createAccount: false, refreshToken: token, newAccount: generator.id(),
                newIdentity: generator.id(), newSession: generator.id()))
    }

    private mutating func link() -> Command.Intent {
        let subject = randomSubject()
        let check: Result<Proof, Credential.Flaw> =
            switch Int.random(in: 0..<10, using: &generator) {
            case 0: .failure(.invalid)
            case 1: .failure(.unavailable)
            default: .success(randomProof(subject))
            }
        let caller = randomCaller()
        let identity: IdentityID = generator.id()
        unlinks.link(identity, to: caller.account)
        return .linkProvider(
            LinkProvider(
                caller: caller,
                credential: Credential(
                    provider: subject.provider, digest: digest(generator.bytes(32)), check: check),
                idempotency: nil, newIdentity: identity))
    }

    /// Unlinks an identity; rarely, support plans it.
    private mutating func unlink() -> Command.Intent {
        if Int.random(in: 0..<10, using: &generator) == 0,
            let change = unlinks.change(using: &generator)
        {
            return change
        }
        return .unlinkProvider(
            UnlinkProvider(
                caller: randomCaller(), provider: randomSubject().provider, identity: nil,
                idempotency: nil))
    }

    private mutating func signOut() -> Command.Intent {
        let everywhere = Int.random(in: 0..<4, using: &generator) == 0
        return .signOut(
            SignOut(caller: randomCaller(), scope: everywhere ? .everywhere : .session))
    }

    /// Returns an erasure, or a change of a legal hold.
    private mutating func administer() -> Command.Intent {
        let account = randomCaller().account
        let actor = Actor.principal(Principal(key: generator.id(), role: .admin))
        switch Int.random(in: 0..<4, using: &generator) {
        case 0:
            lastHeld = account
            return .setLegalHold(
                SetLegalHold(account: account, newHold: generator.id(), actor: actor))
        case 1:
            guard let held = holds.popLast() else { fallthrough }
            return .liftLegalHold(
                LiftLegalHold(account: held.account, hold: held.hold, actor: actor))
        default:
            return .eraseAccount(
                EraseAccount(account: account, basis: .dataSubjectRequest, actor: actor))
        }
    }

    /// Disables an account, enables one, or ends an account's sessions.
    private mutating func changeAccess() -> Command.Intent {
        var account = randomCaller().account
        var change = ChangeAccess.Change.endSessions
        if Bool.random(using: &generator) {
            if let former = disabled.popLast() {
                (account, change) = (former, .enable)
            } else {
                disabled.append(account)
                change = .disable
            }
        }
        return .changeAccess(
            ChangeAccess(
                change, of: account,
                actor: Actor.principal(Principal(key: generator.id(), role: .support)),
                reason: "stolen", caseReference: "case 6"))
    }

    /// Changes a lifetime, and sometimes removes a provider, which the accounts may forbid.
    private mutating func setRules() -> Command.Intent {
        var policy = Self.policy(hasEveryType: hasEveryType)
        policy.sessionLifetimeSeconds -= Int64.random(in: 0...2, using: &generator)
        if Int.random(in: 0..<4, using: &generator) == 0,
            let removed = Self.providers.randomElement(using: &generator)
        {
            policy.providers[removed] = nil
        }
        return .setRules(SetRules(policy, condition: .withoutLockOuts))
    }

    private mutating func refresh() -> Command.Intent {
        let family = tokens[Int.random(in: 0..<tokens.count, using: &generator)]
        let old = Int.random(in: 0..<6, using: &generator) == 0
        let presented = old ? family.tokens[0] : family.tokens[family.tokens.count - 1]
        let successor = digest(generator.bytes(32))
        lastToken = successor
        return .refreshSession(
            RefreshSession(
                session: family.session, presented: presented, successor: successor,
                sealedSuccessor: generator.bytes(60)))
    }

    mutating func randomCaller() -> Caller {
        // The most recent callers are most likely live.
        let recent = callers.suffix(12)
        return recent[Int.random(in: recent.startIndex..<recent.endIndex, using: &generator)]
    }

    /// Returns the proof of a subject, or of the address that its name is.
    mutating func randomProof(
        _ named: Subject, email: Email? = nil,
        authenticatedAt: Timestamp = Timestamp(seconds: 1_000_000_000),
        methods: AuthenticationMethods = .federated
    ) -> Proof {
        switch named.provider {
        case Self.email:
            addressProof(
                named.providerID, new: generator.id(), authenticatedAt: authenticatedAt)
        case Self.password:
            // Mostly a claim; otherwise a sign-up whose code was proved.
            passwordProof(
                named.providerID, new: generator.id(), hash: "hash",
                isClaim: Int.random(in: 0..<4, using: &generator) > 0)
        default:
            proof(named, email: email, authenticatedAt: authenticatedAt, methods: methods)
        }
    }

    mutating func randomSubject() -> Subject {
        let name = Self.providers[Int.random(in: 0..<Self.providers.count, using: &generator)]
        let number = Int.random(in: 0..<subjectsPerProvider, using: &generator)
        if hasEveryType, Int.random(in: 0..<5, using: &generator) == 0 {
            // More of them, because each ends with its first link.
            let number = Int.random(in: 0..<8 * subjectsPerProvider, using: &generator)
            return subject(Self.anonymous.description, "digest-\(number)")
        }
        if hasEveryType, Int.random(in: 0..<4, using: &generator) == 0 {
            let isClaimed = Int.random(in: 0..<3, using: &generator) == 0
            return subject(
                (isClaimed ? Self.password : Self.email).description, "person-\(number)@example.com"
            )
        }
        return subject(name.description, "subject-\(number)")
    }
}
