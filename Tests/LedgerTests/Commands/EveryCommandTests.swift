import Ledger
import LedgerTestSupport
import Testing

/// One accepted example of every command.
struct EveryCommandTests {
    /// The commands, without their parameters.
    enum Kind: CaseIterable {
        case openLedger, rotateKey, signIn, linkProvider, unlinkProvider, signOut, refreshSession,
            eraseAccount, setLegalHold, liftLegalHold, recordRestore, mergeAccounts,
            unmergeAccounts, relinkProvider, setRules

        /// Finds the kind of a command; a new command needs a case here, and so an example below.
        init(of intent: Command.Intent) {
            self =
                switch intent {
                case .openLedger: .openLedger
                case .rotateKey: .rotateKey
                case .signIn: .signIn
                case .linkProvider: .linkProvider
                case .unlinkProvider: .unlinkProvider
                case .signOut: .signOut
                case .refreshSession: .refreshSession
                case .eraseAccount: .eraseAccount
                case .setLegalHold: .setLegalHold
                case .liftLegalHold: .liftLegalHold
                case .recordRestore: .recordRestore
                case .mergeAccounts: .mergeAccounts
                case .unmergeAccounts: .unmergeAccounts
                case .relinkProvider: .relinkProvider
                case .setRules: .setRules
                }
        }
    }

    /// A ledger in which Ada has Apple and had Google, and Bob has Facebook.
    private struct Story {
        var scenario = Scenario()
        let ada: Caller
        let bob: Caller
        let google: IdentityID

        init() throws {
            _ = try scenario.given.carryOut(SequencerFixture.opening(of: .default))
            ada = try scenario.given.signIn(subject("apple", "ada"))
            bob = try scenario.given.signIn(subject("facebook", "bob"))
            _ = try scenario.given.link(ada, .success(proof(subject("google", "ada"))), token: 1)
                .get()
            google = try #require(scenario.given.identities(of: ada, "google").first)
            _ = try scenario.given.unlink(ada, "google").get()
        }

        /// Whether a request is one of a kind, and its accepted reply has its result.
        mutating func succeeds<Request: LedgerRequest>(
            _ request: Request, as kind: Kind
        ) throws -> Bool {
            let reply = try scenario.when(request).result.get()
            return Kind(of: request.intent) == kind && Request.success(in: reply) != nil
        }

        /// Whether an operator's command, which has no request, is accepted.
        mutating func succeeds(_ intent: Command.Intent, as kind: Kind) throws -> Bool {
            _ = try scenario.when(intent).result.get()
            return Kind(of: intent) == kind
        }

        func merge(agreed: Digest) -> MergeAccounts {
            MergeAccounts(
                authority: .support(
                    .system,
                    MergeAccounts.Case(
                        survivor: ada.account, absorbed: bob.account, reason: "one person",
                        reference: "7")),
                keepsAbsorbed: [], agreed: agreed, digest: sha256)
        }

        /// Merges Bob's account into Ada's.
        mutating func merged() throws -> Reply {
            let preview = MergeAccounts.Preview(
                authority: merge(agreed: .zero).authority, keepsAbsorbed: [], digest: sha256)
            let reply = try scenario.when(preview).result.get()
            let planned = try #require(MergeAccounts.Preview.success(in: reply))
            return try scenario.when(merge(agreed: planned.digest)).result.get()
        }
    }

    @Test(arguments: Kind.allCases)
    func `an accepted command has a result of its own type`(kind: Kind) throws {
        var story = try Story()
        #expect(try accepts(kind, in: &story))
    }

    private func accepts(_ kind: Kind, in story: inout Story) throws -> Bool {
        let (ada, hold) = (story.ada, HoldID(bits: 5))
        switch kind {
        case .openLedger:
            return try story.succeeds(SequencerFixture.opening(of: .default).intent, as: kind)
        case .rotateKey:
            let fact = KeyRotated(kind: .encryption, key: "next", former: "test")
            return try story.succeeds(.rotateKey(RotateKey(fact)), as: kind)
        case .recordRestore:
            let fact = LedgerRestored(origin: 0, root: .zero, size: 1)
            return try story.succeeds(.recordRestore(RecordRestore(fact)), as: kind)
        case .setRules:
            let rules = SetRules(story.scenario.given.policy, condition: .noneRecorded)
            return try story.succeeds(.setRules(rules), as: kind)
        case .signIn:
            let request = SignIn(
                proof(subject("apple", "carla")), createAccount: true,
                refreshToken: digest(Array(repeating: 3, count: 32)),
                newAccount: AccountID(bits: 11), newIdentity: IdentityID(bits: 12),
                newSession: SessionID(bits: 13))
            return try story.succeeds(request, as: kind)
        case .linkProvider:
            let request = LinkProvider(
                caller: ada, credential: Credential(subject("google", "second"), digest: .zero),
                idempotency: nil, newIdentity: IdentityID(bits: 14))
            return try story.succeeds(request, as: kind)
        case .unlinkProvider:
            _ = try story.scenario.given.relink(story.google, to: ada.account).get()
            let request = UnlinkProvider(
                caller: ada, provider: provider("google"), identity: nil, idempotency: nil)
            return try story.succeeds(request, as: kind)
        case .signOut:
            return try story.succeeds(SignOut(caller: ada, scope: .session), as: kind)
        case .refreshSession:
            let request = RefreshSession(
                session: ada.session,
                presented: try #require(story.scenario.given.refreshToken(of: ada)),
                successor: digest(Array(repeating: 4, count: 32)), sealedSuccessor: [])
            return try story.succeeds(request, as: kind)
        case .eraseAccount:
            let request = EraseAccount(
                account: ada.account, basis: .operator, agreement: .named, actor: .system)
            return try story.succeeds(request, as: kind)
        case .setLegalHold:
            let request = SetLegalHold(account: ada.account, newHold: hold, actor: .system)
            return try story.succeeds(request, as: kind)
        case .liftLegalHold:
            _ = try story.scenario.when(
                SetLegalHold(account: ada.account, newHold: hold, actor: .system))
            let request = LiftLegalHold(account: ada.account, hold: hold, actor: .system)
            return try story.succeeds(request, as: kind)
        case .mergeAccounts:
            let reply = try story.merged()
            return MergeAccounts.success(in: reply) != nil
                && Kind(of: story.merge(agreed: .zero).intent) == kind
        case .unmergeAccounts:
            let merge = try #require(MergeAccounts.success(in: try story.merged())).event
            let request = UnmergeAccounts(
                merge: merge, survivor: ada.account, absorbed: story.bob.account, actor: .system,
                reason: "two people", caseReference: "8", isPreview: false)
            return try story.succeeds(request, as: kind)
        case .relinkProvider:
            let request = RelinkProvider(
                account: ada.account, identity: story.google,
                former: FormerLink(of: story.google, in: story.scenario.given.log), actor: .system,
                reason: "by mistake", caseReference: "9", isPreview: false)
            return try story.succeeds(request, as: kind)
        }
    }
}
