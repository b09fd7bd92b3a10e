import Ledger
import LedgerTestSupport
import Testing

/// Merges and their undoing, decided by the pure model.
@Suite struct MergeTests {
    static let policy = TenantPolicy(
        providers: Set(["apple", "google", "facebook"].map(provider)))

    static let support = Actor.principal(
        Principal(key: APIKeyID(bits: 9), role: .support))

    /// Two accounts: Ada's with Apple and Google, and another one with a second Google identity and Facebook.
    struct Story {
        var model: ModelLedger
        let ada: Caller
        let other: Caller

        init(policy: TenantPolicy = MergeTests.policy) throws {
            model = ModelLedger(policy: policy)
            ada = try model.signIn(subject("apple", "ada"))
            other = try model.signIn(subject("facebook", "other"))
            _ = try model.link(ada, .success(proof(subject("google", "ada"))), token: 1).get()
            _ = try model.link(other, .success(proof(subject("google", "other"))), token: 2)
                .get()
        }

        func intent(
            proving other: Subject? = subject("google", "other"),
            keeping: Set<ProviderName> = [], agreed: Digest? = nil, token: UInt8 = 0,
            key: IdempotencyKey? = nil
        ) -> MergeAccounts {
            MergeAccounts(
                authority: .accountHolder(
                    ada,
                    Credential(
                        other ?? subject("google", "unknown"),
                        digest: digest(Array(repeating: token, count: 32)),
                        isInvalid: other == nil)),
                keepsAbsorbed: keeping, agreed: agreed, digest: sha256, idempotency: key)
        }

        mutating func plan(keeping: Set<ProviderName> = []) throws -> (MergePlan, Digest) {
            let reply = try model.execute(.mergeAccounts(intent(keeping: keeping))).get()
            guard case .mergePlanned(let plan, let digest) = reply else {
                throw ModelLedger.Unexpected(result: .success(reply))
            }
            return (plan, digest)
        }

        mutating func merge(keeping: Set<ProviderName> = []) throws -> EventID {
            let (_, digest) = try plan(keeping: keeping)
            let merged = intent(keeping: keeping, agreed: digest)
            let reply = try model.execute(.mergeAccounts(merged)).get()
            guard case .merged(_, let event?) = reply else {
                throw ModelLedger.Unexpected(result: .success(reply))
            }
            return event
        }

        mutating func undo(
            _ merge: EventID, isPreview: Bool = false
        ) throws -> Result<Reply, Refusal> {
            try model.execute(
                .unmergeAccounts(
                    UnmergeAccounts(
                        merge: merge, survivor: ada.account, absorbed: other.account,
                        actor: MergeTests.support, reason: "two people", caseReference: "8",
                        isPreview: isPreview)))
        }
    }

    @Test func `a plan lists the moved links, the others and the choices to make`() throws {
        var story = try Story()
        let events = story.model.events.count
        let (plan, _) = try story.plan()
        #expect(plan.moved.map(\.provider) == [provider("facebook")])
        #expect(plan.dropped.map(\.provider) == [provider("google")])
        #expect(plan.replaced.isEmpty)
        #expect(plan.choices.map(\.provider) == [provider("google")])
        let (other, _) = try story.plan(keeping: [provider("google")])
        #expect(other.moved.map(\.provider) == [provider("facebook"), provider("google")])
        #expect(other.dropped.isEmpty)
        #expect(other.replaced.map(\.provider) == [provider("google")])
        #expect(story.model.events.count == events, "a plan appends nothing")
    }

    @Test
    func `the survivor gets the links with their positions, and the absorbed account keeps none`()
        throws
    {
        var story = try Story()
        _ = try story.merge()
        // Facebook was linked before Google.
        #expect(
            story.model.account(story.ada.account)?.linkedProviders.map(\.description)
                == ["apple", "facebook", "google"])
        let absorbed = try #require(story.model.account(story.other.account))
        #expect(absorbed.links.isEmpty)
        #expect(absorbed.mergedInto == story.ada.account)
        let again = try story.model.signIn(subject("facebook", "other"))
        #expect(
            again.account == story.ada.account, "the identity that moved signs in to the survivor")
    }

    @Test(arguments: [Set<ProviderName>(), [provider("google")]])
    func `a merge undone at once restores both accounts`(keeping: Set<ProviderName>) throws {
        var story = try Story()
        let before = [story.ada, story.other].map { story.model.account($0.account)?.links }
        let merge = try story.merge(keeping: keeping)
        let events = story.model.events.count
        guard case .unmergePlanned = try story.undo(merge, isPreview: true).get() else {
            Issue.record("no plan of undoing the merge")
            return
        }
        #expect(story.model.events.count == events)
        _ = try story.undo(merge).get()
        let after = [story.ada, story.other].map { story.model.account($0.account)?.links }
        #expect(after == before)
        #expect(story.model.account(story.other.account)?.mergedInto == nil)
        #expect(
            try story.undo(merge) == .failure(.mergeSuperseded(.notActive)), "only once")
    }

    @Test func `sessions of the absorbed account end, and the caller's stays live`() throws {
        var story = try Story()
        let token = try #require(story.model.refreshToken(of: story.other))
        _ = try story.merge()
        #expect(
            try story.model.refresh(story.other, presenting: token)
                == .failure(.invalidRefreshToken))
        let own = try #require(story.model.refreshToken(of: story.ada))
        #expect(throws: Never.self) {
            try story.model.refresh(story.ada, presenting: own).get()
        }
    }

    @Test func `a merge whose plan has changed is refused`() throws {
        var story = try Story()
        let (_, digest) = try story.plan()
        _ = try story.model.unlink(story.other, "google").get()
        #expect(
            try story.model.execute(
                .mergeAccounts(
                    story.intent(proving: subject("facebook", "other"), agreed: digest)))
                == .failure(.mergePlanChanged))
    }

    @Test func `accounts that cannot be merged are refused, each with its reason`() throws {
        var story = try Story()
        func refusal(_ intent: MergeAccounts) throws -> Refusal? {
            switch try story.model.execute(.mergeAccounts(intent)) {
            case .success: nil
            case .failure(let refusal): refusal
            }
        }
        #expect(try refusal(story.intent(proving: nil)) == .invalidProviderToken)
        #expect(try refusal(story.intent(proving: subject("google", "ada"))) == .sameAccount)
        #expect(
            try refusal(story.intent(proving: subject("google", "unknown"))) == .accountNotFound)
        #expect(
            try refusal(story.intent(keeping: [provider("apple")]))
                == .nothingToChoose(provider("apple")))
        story.model.advanceClock(bySeconds: 3600)
        #expect(try refusal(story.intent()) == .reauthenticationRequired)
    }

    @Test func `previews and the merge of one identity are one attempt, with as many choices`()
        throws
    {
        var story = try Story()
        for _ in 0..<10 {
            _ = try story.plan()
            _ = try story.plan(keeping: [provider("google")])
        }
        _ = try story.merge()
        // One earlier link and the merge, so three attempts are left.
        for token in 10..<13 {
            #expect(
                try story.model.link(story.ada, .failure(.invalid), token: token)
                    == .failure(.invalidProviderToken))
        }
        guard
            case .failure(.rateLimited) = try story.model.link(
                story.ada, .failure(.invalid), token: 13)
        else {
            Issue.record("links and merges do not share their budget")
            return
        }
    }

    @Test func `an invalid proof counts once per token, and against the next identity's preview`()
        throws
    {
        var story = try Story()
        func refusal(_ intent: MergeAccounts) throws -> Refusal? {
            switch try story.model.execute(.mergeAccounts(intent)) {
            case .success: nil
            case .failure(let refusal): refusal
            }
        }
        let events = story.model.events.count
        let tried = story.intent(proving: subject("facebook", "other"))
        #expect(try refusal(tried) == nil)
        for token in 1...3 {
            for _ in 0..<5 {
                #expect(
                    try refusal(story.intent(proving: nil, token: UInt8(token)))
                        == .invalidProviderToken)
            }
        }
        // One link, one identity and three tokens are five.
        for intent in [
            story.intent(proving: nil, token: 9),
            story.intent(proving: subject("google", "unknown"), token: 9), story.intent(),
        ] {
            guard case .rateLimited(let wait) = try refusal(intent) else {
                Issue.record("the sixth attempt is not limited")
                return
            }
            #expect(wait > 3590 && wait <= 3600)
        }
        #expect(try refusal(tried) == nil, "repeated attempts are answered as before")
        #expect(story.model.events.count == events)
        story.model.advanceClock(bySeconds: 3601)
        _ = try story.model.signIn(subject("apple", "ada"))
        let later = try story.model.signIn(subject("apple", "ada"))
        #expect(
            try story.model.execute(
                .mergeAccounts(
                    MergeAccounts(
                        authority: .accountHolder(
                            later,
                            Credential(
                                subject("google", "unknown"), digest: .zero, isInvalid: true)),
                        keepsAbsorbed: [], agreed: nil, digest: sha256)))
                == .failure(.invalidProviderToken))
    }

    @Test func `a merge and its undoing under a key are executed once and answered the same`()
        throws
    {
        var story = try Story()
        func key(_ number: UInt8, content: UInt8 = 1) -> IdempotencyKey {
            IdempotencyKey(
                scope: IdempotencyScope(
                    account: story.ada.account,
                    digest: digest(Array(repeating: number, count: 32))),
                fingerprint: digest(Array(repeating: content, count: 32)))
        }
        let (_, planned) = try story.plan(keeping: [provider("google")])
        let merge = story.intent(keeping: [provider("google")], agreed: planned, key: key(1))
        let first = try story.model.execute(.mergeAccounts(merge))
        guard case .success(.merged(_, let event?)) = first else {
            throw ModelLedger.Unexpected(result: first)
        }
        func undo(_ key: IdempotencyKey) throws -> Result<Reply, Refusal> {
            try story.model.execute(
                .unmergeAccounts(
                    UnmergeAccounts(
                        merge: event, survivor: story.ada.account, absorbed: story.other.account,
                        actor: Self.support, reason: "two people", caseReference: "8",
                        isPreview: false, idempotency: key)))
        }
        #expect(try story.model.execute(.mergeAccounts(merge)) == first)
        let undone = try undo(key(2))
        guard case .success(.unmerged) = undone else {
            throw ModelLedger.Unexpected(result: undone)
        }
        let events = story.model.events.count
        #expect(try undo(key(2)) == undone)
        #expect(try story.model.execute(.mergeAccounts(merge)) == first, "even when it is undone")
        let other = story.intent(agreed: planned, key: key(1, content: 2))
        #expect(
            try story.model.execute(.mergeAccounts(other)) == .failure(.idempotencyKeyReused))
        #expect(try undo(key(2, content: 2)) == .failure(.idempotencyKeyReused))
        #expect(story.model.events.count == events)
        for answer in [first, undone] {
            let stored = try #require(StoredAnswer(answer))
            let text = try #require(stored.text)
            #expect(StoredAnswer(text: text) == stored)
            for count in 0..<text.utf8.count {
                // A shorter text may be another list of links, never this one.
                #expect(StoredAnswer(text: String(text.prefix(count))) != stored)
            }
        }
    }

    @Test func `undoing a merge is refused once something has changed`() throws {
        var story = try Story()
        let merge = try story.merge()
        _ = try story.model.unlink(story.ada, "facebook").get()
        #expect(try story.undo(merge) == .failure(.mergeSuperseded(.identityChanged)))

        story = try Story()
        let dropped = try story.merge()
        // The identity that was not moved opens an account of its own.
        _ = try story.model.signIn(subject("google", "other"))
        #expect(try story.undo(dropped) == .failure(.mergeSuperseded(.identityChanged)))

        story = try Story()
        let first = try story.merge()
        let third = try story.model.signIn(subject("facebook", "third"))
        let (_, digest) = try story.support(third, into: story.ada)
        _ = try story.support(third, into: story.ada, agreed: digest)
        #expect(try story.undo(first) == .failure(.mergeSuperseded(.laterMerge)))
    }

    @Test func `a plan is valid for one merge, even when that is undone`() throws {
        var story = try Story()
        let (_, digest) = try story.plan()
        let agreed = MergeAccounts(
            authority: story.intent().authority, keepsAbsorbed: [], agreed: digest, digest: sha256)
        let reply = try story.model.execute(.mergeAccounts(agreed)).get()
        guard case .merged(_, let merge?) = reply else {
            throw ModelLedger.Unexpected(result: .success(reply))
        }
        // The identity that proves the other account was not moved.
        #expect(try story.model.execute(.mergeAccounts(agreed)) == .failure(.sameAccount))
        _ = try story.undo(merge).get()
        #expect(try story.model.execute(.mergeAccounts(agreed)) == .failure(.mergePlanChanged))
    }

    @Test func `undoing a merge that no entry can hold is refused`() throws {
        var policy = Self.policy
        policy.severalPerProvider = true
        policy.linkBudget = Budget(limit: 10_000, windowSeconds: 3600)
        var story = try Story(policy: policy)
        let merge = try story.merge()
        for number in 0..<EntryDetails.linksMax {
            let more = proof(subject("google", "more-\(number)"))
            _ = try story.model.link(story.ada, .success(more), token: number + 10).get()
        }
        #expect(try story.undo(merge) == .failure(.tooMuchToMerge))
    }
}

extension MergeTests.Story {
    /// Plans or executes a merge by support.
    fileprivate mutating func support(
        _ absorbed: Caller, into survivor: Caller, agreed: Digest? = nil
    ) throws -> (MergePlan, Digest) {
        let intent = MergeAccounts(
            authority: .support(
                MergeTests.support,
                MergeAccounts.Case(
                    survivor: survivor.account, absorbed: absorbed.account, reason: "one person",
                    reference: "7")), keepsAbsorbed: [], agreed: agreed, digest: sha256)
        switch try model.execute(.mergeAccounts(intent)).get() {
        case .mergePlanned(let plan, let digest): return (plan, digest)
        case .merged(let plan, _): return (plan, .zero)
        case let reply: throw ModelLedger.Unexpected(result: .success(reply))
        }
    }
}
