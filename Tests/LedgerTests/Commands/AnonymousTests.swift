import Ledger
import LedgerTestSupport
import Testing

/// Anonymous accounts: their upgrade by a link, and their merge with another account.
struct AnonymousTests {
    private static let anonymous = provider("anonymous")
    private static let google = provider("google")
    private static let newIdentity = IdentityID(bits: 7)

    /// An account with an anonymous identity, and the session that its secret opened.
    private struct Story {
        var scenario = Scenario {
            $0.providers[anonymous] = ProviderPin(type: .anonymous, issuers: [])
        }
        let caller: Caller
        let identity: IdentityID

        init() throws {
            caller = try scenario.given.signIn(
                subject("anonymous", "digest"), methods: .anonymous)
            identity = try #require(scenario.given.identities(of: caller, "anonymous").first)
        }

        mutating func link(
            _ subject: Subject, as identity: IdentityID = newIdentity
        ) throws -> Scenario.Effects {
            let proof = proof(subject, authenticatedAt: Timestamp(seconds: 1_700_000_000))
            return try scenario.when(
                LinkProvider(
                    caller: caller,
                    credential: Credential(
                        provider: subject.provider, digest: .zero, check: .success(proof)),
                    idempotency: nil, newIdentity: identity))
        }

        /// The end of the anonymous identity in favour of the new one.
        var upgraded: Event {
            .providerUnlinked(
                ProviderUnlinked(
                    account: caller.account, identity: identity, provider: anonymous,
                    cause: .upgraded(
                        ProviderUnlinked.Upgrade(
                            successor: newIdentity, session: caller.session,
                            authenticatedAt: Timestamp(seconds: 1_700_000_000),
                            methods: .federated))))
        }

        func merge(
            _ caller: Caller, provedBy subject: Subject, agreed: Digest?
        ) -> MergeAccounts {
            MergeAccounts(
                authority: .accountHolder(caller, Credential(subject, digest: .zero)),
                keepsAbsorbed: [], agreed: agreed, digest: sha256)
        }

        /// Merges the account of a subject into the caller's, as planned.
        mutating func merge(_ caller: Caller, provedBy subject: Subject) throws -> MergePlan {
            let planned = try scenario.when(merge(caller, provedBy: subject, agreed: nil)).result
            guard case .mergePlanned(let plan, let digest) = try planned.get() else {
                throw ModelLedger.Unexpected(result: planned)
            }
            _ = try scenario.when(merge(caller, provedBy: subject, agreed: digest)).result.get()
            return plan
        }
    }

    @Test func `the first link ends the anonymous identity in the same command`() throws {
        var story = try Story()
        #expect(
            try story.link(subject("google", "ada"))
                == then(
                    .linked([Self.google]),
                    .providerLinked(
                        ProviderLinked(
                            account: story.caller.account, identity: Self.newIdentity,
                            provider: Self.google, cause: .link)), story.upgraded))
        let links = story.scenario.given.account(story.caller.account)?.links
        #expect(links?.map(\.identity) == [Self.newIdentity])
    }

    @Test func `the session that links becomes the new identity's, and the others end`() throws {
        var story = try Story()
        let other = try story.scenario.given.signIn(
            subject("anonymous", "digest"), methods: .anonymous)
        _ = try story.link(subject("google", "ada"))
        let sessions = story.scenario.given.state.ledger.sessions
        let kept = try #require(sessions[story.caller.session])
        #expect(kept.endedPosition == nil)
        #expect(kept.identity == Self.newIdentity)
        #expect(kept.authenticatedAt == Timestamp(seconds: 1_700_000_000))
        #expect(kept.methods == .federated)
        #expect(sessions[other.session]?.endedPosition != nil)
        // The kept session ends with the new identity, like any session that it opened.
        story.scenario.given.policy.reauthenticationSeconds = .max / 2_000_000
        _ = try story.link(subject("apple", "ada"), as: IdentityID(bits: 8)).result.get()
        _ = try story.scenario.given.unlink(story.caller, "google").get()
        let ended = story.scenario.given.state.ledger.sessions[story.caller.session]
        #expect(ended?.endedPosition != nil)
    }

    @Test func `a link that is refused leaves the anonymous identity`() throws {
        var story = try Story()
        _ = try story.scenario.given.signIn(subject("google", "ada"))
        let refused = try story.link(subject("google", "ada"))
        #expect(refused.result == .failure(.providerConflict(.heldByOther)))
        #expect(story.scenario.given.identities(of: story.caller, "anonymous") == [story.identity])
    }

    @Test func `a secret signs in until the upgrade, and never opens another account`() throws {
        var story = try Story()
        func signIn(_ number: UInt128, createAccount: Bool = false) -> SignIn {
            SignIn(
                proof(subject("anonymous", "digest"), methods: .anonymous),
                createAccount: createAccount,
                refreshToken: .zero, newAccount: AccountID(bits: number),
                newIdentity: IdentityID(bits: number), newSession: SessionID(bits: number))
        }
        let opened = try SignIn.success(in: story.scenario.when(signIn(80)).result.get())
        #expect(opened?.grant.account == story.caller.account)
        _ = try story.link(subject("google", "ada"))
        for createAccount in [false, true] {
            #expect(
                try story.scenario.when(signIn(81, createAccount: createAccount))
                    == refused(.accountNotFound))
        }
    }

    @Test func `an anonymous identity is never linked, whatever was proved`() throws {
        var story = try Story()
        #expect(
            try story.link(subject("anonymous", "other")) == refused(.unsupportedProvider))
    }

    @Test func `an upgrade opens and ends no session in a comparison of two moments`() throws {
        var story = try Story()
        let count = story.scenario.given.log.count
        _ = try story.link(subject("google", "ada"))
        var account = ReplayedAccount(story.caller.account, in: .default)
        for recording in story.scenario.given.log[..<count] {
            try account.apply(recording.recorded, leaf: recording.leaf)
        }
        let before = account
        for recording in story.scenario.given.log[count...] {
            try account.apply(recording.recorded, leaf: recording.leaf)
        }
        let difference = AccountDifference(from: before, to: account)
        #expect(difference.openedSessions.isEmpty)
        #expect(difference.endedSessions.isEmpty)
        #expect(difference.removedLinks.map(\.identity) == [story.identity])
    }

    @Test func `an upgraded identity is never linked again`() throws {
        var story = try Story()
        _ = try story.link(subject("google", "ada"))
        #expect(
            try story.scenario.given.relink(story.identity, to: story.caller.account)
                == .failure(.relinkRefused(.anonymous)))
    }

    @Test func `the only way to sign in stays, also if it is anonymous`() throws {
        var story = try Story()
        #expect(
            try story.scenario.given.unlink(story.caller, "anonymous")
                == .failure(.onlyProvider))
    }

    @Test func `a merge into a real account drops the anonymous identity, and undo returns it`()
        throws
    {
        var story = try Story()
        let ada = try story.scenario.given.signIn(subject("google", "ada"))
        let plan = try story.merge(ada, provedBy: subject("anonymous", "digest"))
        #expect(plan.dropped.map(\.identity) == [story.identity])
        #expect(plan.moved.isEmpty)
        #expect(plan.choices.isEmpty)
        #expect(plan.linkedProviders == [Self.google])
        let merge = try #require(story.scenario.given.log.last).recorded.id
        _ = try story.scenario.when(
            UnmergeAccounts(
                merge: merge, survivor: ada.account, absorbed: story.caller.account,
                actor: .system, reason: "two people", caseReference: "8", isPreview: false)
        ).result.get()
        #expect(story.scenario.given.identities(of: story.caller, "anonymous") == [story.identity])
    }

    @Test func `a merge of a real account into an anonymous one replaces its identity`() throws {
        var story = try Story()
        _ = try story.scenario.given.signIn(subject("google", "ada"))
        let plan = try story.merge(story.caller, provedBy: subject("google", "ada"))
        #expect(plan.replaced.map(\.identity) == [story.identity])
        #expect(plan.linkedProviders == [Self.google])
    }

    @Test(arguments: [false, true])
    func `two anonymous accounts keep the survivor's identity`(isSeveral: Bool) throws {
        var story = try Story()
        story.scenario.given.policy.severalPerProvider = isSeveral
        let other = try story.scenario.given.signIn(
            subject("anonymous", "other"), methods: .anonymous)
        let plan = try story.merge(other, provedBy: subject("anonymous", "digest"))
        #expect(plan.dropped.map(\.identity) == [story.identity])
        #expect(plan.links.count == 1)
    }

    @Test func `a merge into an anonymous account is not undone after it got another identity`()
        throws
    {
        var story = try Story()
        let ada = try story.scenario.given.signIn(subject("google", "ada"))
        _ = try story.merge(story.caller, provedBy: subject("google", "ada"))
        let merge = try #require(story.scenario.given.log.last).recorded.id
        // The merge has ended the session of the anonymous identity.
        let again = try story.scenario.given.signIn(subject("google", "ada"))
        let link = LinkProvider(
            caller: again, credential: Credential(subject("apple", "ada"), digest: .zero),
            idempotency: nil, newIdentity: IdentityID(bits: 8))
        _ = try story.scenario.when(link).result.get()
        let undone = try story.scenario.when(
            UnmergeAccounts(
                merge: merge, survivor: story.caller.account, absorbed: ada.account,
                actor: .system, reason: "two people", caseReference: "8", isPreview: false))
        #expect(undone == refused(.mergeSuperseded(.upgraded)))
    }

    @Test func `rules without the provider do not keep the secret valid after a link`() throws {
        var story = try Story()
        let withAnonymous = story.scenario.given.policy
        func set(_ policy: TenantPolicy) throws {
            _ = try story.scenario.when(
                .setRules(SetRules(policy, condition: .acceptsLockOuts))
            ).result.get()
            story.scenario.given.policy = policy
        }
        try set(withAnonymous)
        var without = withAnonymous
        without.providers[Self.anonymous] = nil
        try set(without)
        #expect(try story.link(subject("google", "ada")).events.last == story.upgraded)
    }

    @Test func `identities do not become anonymous by a change of rules`() throws {
        var story = try Story()
        var policy = story.scenario.given.policy
        _ = try story.scenario.when(.setRules(SetRules(policy, condition: .acceptsLockOuts)))
        policy.providers[Self.anonymous] = ProviderPin(type: .oidc, issuers: ["https://a.example"])
        let change = SetRules(
            policy, condition: .acceptsLockOuts, acceptedIssuers: [Self.anonymous])
        #expect(
            try story.scenario.when(.setRules(change)) == refused(.providerPinned(Self.anonymous)))
    }

    @Test func `an upgrade that contradicts the account is a fault`() throws {
        var story = try Story()
        let apple = try story.scenario.given.signIn(subject("apple", "bob"))
        func unlink(_ successor: IdentityID, _ session: SessionID?) -> Event {
            .providerUnlinked(
                ProviderUnlinked(
                    account: story.caller.account, identity: story.identity,
                    provider: Self.anonymous,
                    cause: .upgraded(
                        ProviderUnlinked.Upgrade(
                            successor: successor, session: session,
                            authenticatedAt: Timestamp(seconds: 0), methods: .federated))))
        }
        _ = try story.link(subject("google", "ada"))
        // The log up to the link, then another end of the anonymous identity.
        let log = story.scenario.given.log
        let last = try #require(log.last).recorded
        let events = [
            unlink(story.identity, nil), unlink(IdentityID(bits: 99), nil),
            unlink(Self.newIdentity, apple.session), unlink(Self.newIdentity, SessionID(bits: 98)),
        ]
        for event in events {
            var state = LedgerState(tenant: .default)
            var compact = CompactState(tenant: .default)
            for recording in log.dropLast() {
                try state.apply(recording.recorded, leaf: recording.leaf)
                try compact.apply(recording.recorded, leaf: recording.leaf)
            }
            let forged = RecordedEvent(
                tenant: .default, position: last.position, id: last.id,
                recordedAt: last.recordedAt, actor: last.actor, command: last.command,
                request: nil, accounts: last.accounts, disclosureDigests: [], event: event)
            #expect(throws: FoldFault.self) { try state.apply(forged, leaf: .zero) }
            #expect(throws: FoldFault.self) { try compact.apply(forged, leaf: .zero) }
        }
    }
}
