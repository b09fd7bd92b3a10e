import Ledger
import LedgerEngine
import LedgerTestSupport

/// A random history of people who sign up, link, sign in again, claim each other's identities, unlink
/// and sign out: commands decided by the pure model, about five events per account.
///
/// Not a `ModelLedger`, since a log of any length must not fill the memory.
struct RandomHistory {
    /// An event with the related rows of other tables.
    struct Step {
        let recording: Recording
        let audit: [AuditRow]
    }

    /// A person, whose subjects are derived from the provider and the person's number.
    private struct Person {
        let number: Int
        /// Indices into ``providers``.
        var linked: [Int]
        var caller: Caller?
    }

    private static let providers = ["apple", "google", "facebook", "twitter"].map(provider)
    private static let userAgent = """
        Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)
        """
    private static let microsecondsBetween: Int64 = 50_000
    /// Between events that continue a log: ten million of them end before the present, or soon after.
    private static let microsecondsBetweenLater: Int64 = 1

    private(set) var state = DecisionState(ledger: LedgerState(tenant: .default))
    /// The e-mails of identities in `user_providers`.
    private(set) var emails: [IdentityID: Email] = [:]
    /// The id of the log's first MAC key; nil for an unprotected log.
    private let macKey: String?
    private let policy: TenantPolicy
    private var generator: SeededGenerator
    private let recorder: Recorder
    private var people: [Person] = []
    private var now: Timestamp
    private let microseconds: Int64

    /// Starts a history at a fixed time, or after the first event of a log.
    init(seed: UInt64, macKey: String?, after first: EventID?) {
        self.macKey = macKey
        now = first.map { $0.madeAt.adding(seconds: 1) } ?? Timestamp(seconds: 1_790_000_000)
        microseconds = first == nil ? Self.microsecondsBetween : Self.microsecondsBetweenLater
        generator = SeededGenerator(seed: seed)
        var policy = TenantPolicy(providers: Set(Self.providers))
        policy.linkBudget = Budget(limit: 1_000_000, windowSeconds: 1)
        policy.signInBudget = Budget(limit: 1_000_000, windowSeconds: 1)
        self.policy = policy
        let salts = SeededBytes(seed: seed &+ 1)
        recorder = Recorder(leafHash: leafHash, digest: sha256) { salts.next($0) }
    }

    /// Passes at least this many events to the body, in order; ends after the command that reaches the count.
    mutating func run(events: Int64, _ take: (Step) throws -> Void) throws {
        try execute(
            .openLedger(
                OpenLedger(
                    LedgerOpened(
                        mode: .production, encryptionKey: "load", macKey: macKey, tokenKey: "load"))
            ),
            take)
        while state.ledger.nextPosition.value < events {
            switch Int.random(in: 0..<300, using: &generator) {
            case ..<100: try signUp(take)
            case _ where people.isEmpty: break
            case ..<180: try link(take)
            case ..<270: try signIn(randomPerson(), take)
            case ..<280: try conflict(take)
            case ..<288: try unlink(take)
            default: try signOut(take)
            }
        }
    }

    private mutating func randomPerson() -> Int {
        Int.random(in: 0..<people.count, using: &generator)
    }

    private static func subject(_ provider: Int, _ number: Int) -> Subject {
        LedgerTestSupport.subject(
            providers[provider].description, "10876\(100_000_000_000 + number)")
    }

    private mutating func signUp(_ take: (Step) throws -> Void) throws {
        let number = people.count
        people.append(
            Person(
                number: number, linked: [Int.random(in: 0..<2, using: &generator)], caller: nil))
        try signIn(number, take)
    }

    private mutating func signIn(_ index: Int, _ take: (Step) throws -> Void) throws {
        let person = people[index]
        let provider = person.linked[Int.random(in: 0..<person.linked.count, using: &generator)]
        let account: AccountID = newID()
        let result = try execute(
            .signIn(
                SignIn(
                    proof(
                        Self.subject(provider, person.number),
                        email: Email("person.\(person.number)@example.com", isVerified: true),
                        authenticatedAt: now),
                    createAccount: true, refreshToken: digest(generator.bytes(32)),
                    newAccount: account, newIdentity: newID(), newSession: newID())), take)
        guard case .success(.signedIn(let grant, _)) = result else {
            preconditionFailure("a sign-in of a known person is refused")
        }
        people[index].caller = Caller(account: grant.account, session: grant.session)
    }

    private mutating func link(_ take: (Step) throws -> Void) throws {
        let index = randomPerson()
        let person = people[index]
        let free = Self.providers.indices.filter { !person.linked.contains($0) }
        guard let caller = person.caller, let provider = free.randomElement(using: &generator)
        else { return }
        people[index].linked.append(provider)
        try claim(provider, of: person.number, by: caller, take)
    }

    private mutating func conflict(_ take: (Step) throws -> Void) throws {
        let holder = people[randomPerson()]
        guard let caller = people[randomPerson()].caller else { return }
        try claim(holder.linked[0], of: holder.number, by: caller, take)
    }

    private mutating func claim(
        _ provider: Int, of number: Int, by caller: Caller, _ take: (Step) throws -> Void
    ) throws {
        try execute(
            .linkProvider(
                LinkProvider(
                    caller: caller,
                    credential: Credential(
                        Self.subject(provider, number),
                        email: Email("link.\(number)@example.com", isVerified: true),
                        digest: digest(generator.bytes(32))),
                    idempotency: nil, newIdentity: newID())), take)
    }

    private mutating func unlink(_ take: (Step) throws -> Void) throws {
        let index = randomPerson()
        if people[index].caller == nil || Bool.random(using: &generator) {
            try signIn(index, take)
        }
        let provider = people[index].linked[0]
        guard let caller = people[index].caller else { return }
        let result = try execute(
            .unlinkProvider(
                UnlinkProvider(
                    caller: caller, provider: Self.providers[provider], identity: nil,
                    idempotency: nil)), take)
        guard case .success = result else { return }
        people[index].linked.removeFirst()
        if state.ledger.sessions[caller.session]?.endedPosition != nil {
            people[index].caller = nil
        }
    }

    private mutating func signOut(_ take: (Step) throws -> Void) throws {
        let index = randomPerson()
        guard let caller = people[index].caller else { return }
        people[index].caller = nil
        let everywhere = Int.random(in: 0..<4, using: &generator) == 0
        try execute(
            .signOut(SignOut(caller: caller, scope: everywhere ? .everywhere : .session)), take)
    }

    private mutating func newID<Kind>() -> EntityID<Kind> {
        EntityID(
            at: now, random: UInt128(generator.next()) << 64 | UInt128(generator.next()))
    }

    @discardableResult
    private mutating func execute(
        _ intent: Command.Intent, _ take: (Step) throws -> Void
    ) throws -> Result<Reply, Refusal> {
        now = Timestamp(microseconds: now.microseconds + microseconds)
        let client = UInt8.random(in: 0...255, using: &generator)
        let command = Command(
            id: newID(), tenant: .default,
            origin: Command.Origin(
                request: newID(), clientIP: "203.0.113.\(client)", userAgent: Self.userAgent),
            intent: intent)
        state.signIns = [:]
        state.attempts = [:]
        let decision = command.decide(given: state, at: now, under: policy)
        // One draft at a time, because an audit row shows the links right before and after it.
        for (index, draft) in decision.drafts.enumerated() {
            var single = decision
            single.drafts = [draft]
            single.effects = index == decision.drafts.count - 1 ? decision.effects : []
            let accounts = draft.event.fact.accounts
            let before = accounts.map(linkedProviders)
            for recording in try recorder.record(single, of: command, into: &state, at: now) {
                try take(step(recording, draft, before: before))
            }
        }
        return decision.result
    }

    private mutating func step(
        _ recording: Recording, _ draft: Decision.Draft, before: [[String]]
    ) -> Step {
        let recorded = recording.recorded
        let disclosed = recording.disclosures.compactMap {
            Disclosure(encoded: String(decoding: $0, as: UTF8.self))
        }
        let email = DisclosedValues(disclosed).email
        switch recorded.event.identityEffect {
        case .linked(let fact): emails[fact.identity] = email
        case .signedIn(let fact): if let email { emails[fact.identity] = email }
        case .unlinked, .merged, .unmerged, .erased, .none: break
        }
        let address = disclosed.first { $0.name == .clientIP }?.value
        let audit = recorded.accounts.enumerated().map { index, reference in
            AuditRow(
                recorded, for: reference, clientIP: address, before: before[index],
                after: linkedProviders(reference.id))
        }
        return Step(recording: recording, audit: audit)
    }

    private func linkedProviders(_ account: AccountID) -> [String] {
        state.ledger.accounts[account]?.linkedProviders.map(\.description) ?? []
    }
}
