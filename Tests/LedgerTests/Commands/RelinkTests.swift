import Ledger
import LedgerTestSupport
import Testing

/// Undone unlinks by support, decided by the pure model.
@Suite struct RelinkTests {
    /// Ada with Apple and Google, of which she unlinks Google.
    private struct Story {
        var model: ModelLedger
        let ada: Caller
        let google: IdentityID

        init(severalPerProvider: Bool = false, isVerified: Bool? = true) throws {
            model = ModelLedger(
                policy: TenantPolicy(
                    providers: Set(["apple", "google", "facebook"].map(provider)),
                    severalPerProvider: severalPerProvider))
            ada = try model.signIn(subject("apple", "ada"))
            _ = try model.link(
                ada,
                .success(
                    proof(subject("google", "ada"), email: Email("a@b.c", isVerified: isVerified))),
                token: 1
            ).get()
            google = try #require(model.identities(of: ada, "google").first)
            _ = try model.unlink(ada, "google").get()
        }

        mutating func obstacle(
            _ identity: IdentityID? = nil, to account: AccountID? = nil
        ) throws -> RelinkProvider.Obstacle? {
            let events = model.events.count
            for isPreview in [true, false] {
                let result = try model.relink(
                    identity ?? google, to: account ?? ada.account, isPreview: isPreview)
                guard case .failure(.relinkRefused(let obstacle)) = result else { return nil }
                guard isPreview == false else { continue }
                #expect(model.events.count == events)
                return obstacle
            }
            return nil
        }
    }

    @Test func `an unlinked identity is linked again as planned, and once only`() throws {
        var scenario = Scenario()
        let ada = try scenario.given.signIn(subject("apple", "ada"))
        _ = try scenario.given.link(ada, .success(proof(subject("google", "ada"))), token: 1).get()
        let google = try #require(scenario.given.identities(of: ada, "google").first)
        _ = try scenario.given.unlink(ada, "google").get()
        func relink(isPreview: Bool) -> RelinkProvider {
            RelinkProvider(
                account: ada.account, identity: google,
                former: FormerLink(of: google, in: scenario.given.log), actor: .system,
                reason: "by mistake", caseReference: "9", isPreview: isPreview)
        }
        let preview = try scenario.when(relink(isPreview: true))
        let plan = try #require(RelinkProvider.Preview.success(in: try preview.result.get()))
        #expect(preview == then(.relinkPlanned(plan)))
        let relinked = try scenario.when(relink(isPreview: false))
        let event = try #require(scenario.given.log.last).recorded.id
        #expect(
            relinked
                == then(
                    .relinked(plan, event),
                    .providerLinked(
                        ProviderLinked(
                            account: ada.account, identity: google, provider: provider("google"),
                            cause: .relink))))
        #expect(
            try scenario.when(relink(isPreview: false))
                == refused(.relinkRefused(.alreadyLinked)))
    }

    @Test func `an unlink is undone with the link's disclosures, for a reason`() throws {
        var story = try Story()
        let events = story.model.events.count
        guard
            case .success(.relinkPlanned(let plan)) = try story.model.relink(
                story.google, to: story.ada.account, isPreview: true)
        else {
            Issue.record("no plan")
            return
        }
        #expect(plan.linkedProviders == ["apple", "google"].map(provider))
        #expect(story.model.events.count == events, "a plan appends nothing")
        let token = try #require(story.model.refreshToken(of: story.ada))
        guard
            case .success(.relinked(plan, let event?)) = try story.model.relink(
                story.google, to: story.ada.account)
        else {
            Issue.record("not linked again")
            return
        }
        let recording = try #require(story.model.log.last)
        #expect(recording.recorded.id == event && recording.recorded.actor == .system)
        #expect(
            recording.recorded.event
                == .providerLinked(
                    ProviderLinked(
                        account: story.ada.account, identity: story.google,
                        provider: provider("google"), cause: .relink)))
        #expect(
            Set(recording.disclosed.map { "\($0.name.rawValue)=\($0.value)" }) == [
                "case_reference=9", "reason=by mistake", "provider_id=ada", "email=a@b.c",
                "email_verified=true",
            ])
        #expect(
            try story.model.signIn(subject("google", "ada")).account == story.ada.account,
            "the identity signs in to the account again")
        #expect(throws: Never.self, "no session ends") {
            try story.model.refresh(story.ada, presenting: token).get()
        }
        #expect(try story.obstacle() == .alreadyLinked)
    }

    @Test(arguments: [false, nil])
    func `the e-mail's verification is disclosed again, and no more`(isVerified: Bool?) throws {
        var story = try Story(isVerified: isVerified)
        _ = try story.model.relink(story.google, to: story.ada.account).get()
        let disclosed = try #require(story.model.log.last).disclosed
        #expect(disclosed.contains { $0.name == .email })
        #expect(
            disclosed.first { $0.name == .emailVerified }?.value == isVerified.map { "\($0)" })
    }

    @Test func `the e-mail of the sign-in that opened the account comes back with its identity`()
        throws
    {
        var story = try Story()
        _ = try story.model.relink(story.google, to: story.ada.account).get()
        let apple = try #require(story.model.identities(of: story.ada, "apple").first)
        _ = try story.model.unlink(story.ada, "apple").get()
        _ = try story.model.relink(apple, to: story.ada.account).get()
        let disclosed = try #require(story.model.log.last).disclosed
        #expect(disclosed.contains { $0.name == .providerID && $0.value == "ada" })
        // The sign-in of the model discloses none.
        #expect(!disclosed.contains { $0.name == .email })
    }

    @Test func `a linked identity stays where it is`() throws {
        var story = try Story()
        let other = try story.model.signIn(subject("google", "ada"))
        #expect(try story.obstacle() == .notLinkedHereLast)
        // Nor does it come back once it belonged to another account.
        _ = try story.model.link(other, .success(proof(subject("google", "more"))), token: 3)
        story = try Story(severalPerProvider: true)
        let owner = try story.model.signIn(subject("google", "ada"))
        _ = try story.model.link(owner, .success(proof(subject("google", "more"))), token: 3)
            .get()
        _ = try story.model.unlink(owner, "google", identity: story.google).get()
        #expect(try story.obstacle() == .notLinkedHereLast)
        guard case .success(.relinked) = try story.model.relink(story.google, to: owner.account)
        else {
            Issue.record("not linked again to its last account")
            return
        }
    }

    @Test func `a provider that was linked since is refused, unless a tenant allows several`()
        throws
    {
        for (several, expected) in [(false, RelinkProvider.Obstacle.providerTaken), (true, nil)] {
            var story = try Story(severalPerProvider: several)
            _ = try story.model.link(
                story.ada, .success(proof(subject("google", "new"))), token: 2
            ).get()
            #expect(try story.obstacle() == expected)
        }
    }

    @Test func `unknown, erased, absorbed and foreign identities are refused, each as such`() throws
    {
        var story = try Story()
        let stranger = try story.model.signIn(subject("facebook", "stranger"))
        #expect(try story.obstacle(to: stranger.account) == .notLinkedHereLast)
        let nobody = AccountID(bits: 77)
        #expect(
            try story.model.relink(story.google, to: nobody) == .failure(.unknownAccount))
        #expect(
            try story.model.relink(IdentityID(bits: 78), to: story.ada.account)
                == .failure(.relinkRefused(.notLinkedHereLast)))
        let plan = try story.model.execute(merge(story.ada, into: stranger, agreed: nil)).get()
        guard case .mergePlanned(_, let digest) = plan else {
            throw ModelLedger.Unexpected(result: .success(plan))
        }
        _ = try story.model.execute(merge(story.ada, into: stranger, agreed: digest)).get()
        #expect(
            try story.model.relink(story.google, to: story.ada.account)
                == .failure(.accountMerged(into: stranger.account)))
        _ = try story.model.execute(
            .eraseAccount(
                EraseAccount(
                    account: story.ada.account, basis: .dataSubjectRequest, actor: .system))
        ).get()
        for account in [story.ada.account, stranger.account] {
            #expect(
                try story.model.relink(story.google, to: account) == .failure(.accountErased))
        }
    }

    @Test func `without the link's disclosures, or with another link's, nothing is guessed`()
        throws
    {
        var story = try Story()
        let former = try #require(FormerLink(of: story.google, in: story.model.log))
        func refusal(_ former: FormerLink?) throws -> Refusal? {
            let intent = RelinkProvider(
                account: story.ada.account, identity: story.google, former: former,
                actor: .system, reason: "r", caseReference: "c", isPreview: false)
            switch try story.model.execute(.relinkProvider(intent)) {
            case .success: return nil
            case .failure(let refusal): return refusal
            }
        }
        let position = former.position
        for providerID in [nil, "other", ""] {
            let gone = FormerLink(position: position, providerID: providerID, email: nil)
            #expect(try refusal(gone) == .relinkRefused(.disclosuresGone))
        }
        #expect(try refusal(nil) == .relinkRefused(.identityChanged))
        _ = try story.model.relink(story.google, to: story.ada.account).get()
        _ = try story.model.unlink(story.ada, "google").get()
        #expect(try refusal(former) == .relinkRefused(.identityChanged))
    }

    private func merge(
        _ absorbed: Caller, into survivor: Caller, agreed: Digest?
    ) -> Command.Intent {
        .mergeAccounts(
            MergeAccounts(
                authority: .support(
                    .system,
                    MergeAccounts.Case(
                        survivor: survivor.account, absorbed: absorbed.account, reason: "r",
                        reference: "c")), keepsAbsorbed: [], agreed: agreed, digest: sha256))
    }
}
