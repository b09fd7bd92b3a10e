import Foundation
import Ledger
import LedgerTestSupport
import Testing

/// The scenarios of each command, and the results that each request can have.
struct LedgerRequestTests {
    /// Requests that a ledger has accepted, each with its reply.
    private struct Accepted {
        struct Request {
            let type: String
            let command: CommandName
            let reply: Reply
            /// Whether the request has a result in a reply.
            let takes: (Reply) -> Bool
        }

        var scenario = Scenario {
            $0.providers[RandomCommands.password] = ProviderPin(type: .password, issuers: [])
        }
        var requests: [Request] = []

        @discardableResult
        mutating func accept<Wanted: LedgerRequest>(_ request: Wanted) throws -> Wanted.Success {
            let reply = try scenario.when(request).result.get()
            requests.append(
                Request(
                    type: String(reflecting: Wanted.self), command: CommandName(request.intent),
                    reply: reply, takes: { Wanted.success(in: $0) != nil }))
            return try #require(Wanted.success(in: reply), "\(Wanted.self): \(reply)")
        }
    }

    @Test(arguments: CommandName.allCases)
    func `each command has scenarios in which it is accepted and refused`(
        command: CommandName
    ) throws {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("\(command.suite).swift")
        let text = try String(contentsOf: path, encoding: .utf8)
        for part in ["Scenario", "\(command.rawValue)(", "then(", "refused("] {
            #expect(text.contains(part), "\(command.suite) lacks \(part)")
        }
    }

    @Test func `each request takes the reply to its own command, and no other`() throws {
        let requests = try Self.accepted()
        for request in requests {
            for other in requests {
                #expect(
                    request.takes(other.reply) == (request.type == other.type),
                    "\(request.type): \(other.reply)")
            }
        }
        let commands = Set(requests.map(\.command))
        #expect(
            Set(CommandName.allCases).subtracting(commands)
                == [.openLedger, .rotateKey, .recordRestore, .setRules],
            "these are no requests")
        #expect(try Set(requests.map(\.type)).count == Self.declaredCount())
    }

    @Test func `a merge that is not recorded has no result`() throws {
        let requests = try Self.accepted()
        let planned = try #require(
            requests.lazy.compactMap { MergeAccounts.Preview.success(in: $0.reply) }.first)
        #expect(MergeAccounts.success(in: .merged(planned.plan, nil)) == nil)
        let event = EventID(bits: 3)
        #expect(MergeAccounts.success(in: .merged(planned.plan, event))?.done?.event == event)
    }

    /// Signs up with a password, changes and resets it.
    private static func setPasswords(_ ledger: inout Accepted) throws {
        var generator = SeededGenerator(seed: 9)
        let signUp = SignIn(address: "eve@example.com", password: "hash", &generator)
        let result = try ledger.scenario.when(signUp).result.get()
        let grant = try #require(SignIn.success(in: result)).grant
        let (identity, version) = try #require(ledger.scenario.given.state.ledger.passwords.first)
        try ledger.accept(
            ChangePassword(
                SessionRenewal(
                    caller: Caller(account: grant.account, session: grant.session),
                    password: PasswordVersion(identity: identity, version: version),
                    refreshToken: .zero, newSession: SessionID(bits: 11)),
                to: NewPassword(hash: "hash 2")))
        let changed = try #require(ledger.scenario.given.state.ledger.passwords.first)
        let new = SignIn(address: "new@example.com", password: "hash", &generator).proof
        try ledger.accept(
            ChangeAddress(
                SessionRenewal(
                    caller: Caller(account: grant.account, session: SessionID(bits: 11)),
                    password: PasswordVersion(identity: identity, version: changed.value),
                    refreshToken: .zero, newSession: SessionID(bits: 12)),
                from: try #require(signUp.proof.address).names, to: new,
                newFormer: AddressID(bits: 13)))
        try ledger.accept(RecordThrottling(of: new.address?.names ?? [], at: provider("password")))
        try ledger.accept(TakeBackAddress(signUp.proof, password: NewPassword(hash: "hash 4")))
        try ledger.accept(ResetPassword(signUp.proof, password: NewPassword(hash: "hash 3")))
        let other = SignIn(address: "fay@example.com", password: "hash", &generator)
        try ledger.accept(
            ImportPassword(
                other.proof, holder: nil, actor: .system, newAccount: other.newAccount,
                newIdentity: other.newIdentity))
        try ledger.accept(
            ImportAccount(
                externalName("eve"),
                identities: [
                    .init(subject("google", "eve"), email: nil, newID: IdentityID(bits: 120))
                ], addresses: [], actor: .system, newAccount: AccountID(bits: 121)))
    }

    /// Makes one request of each type.
    private static func accepted() throws -> [Accepted.Request] {
        var ledger = Accepted()
        let ada = try ledger.scenario.given.signIn(subject("apple", "ada"))
        let bob = try ledger.scenario.given.signIn(subject("facebook", "bob"))
        let google = IdentityID(bits: 7)
        try ledger.accept(
            SignIn(
                proof(subject("apple", "ada")), createAccount: false, refreshToken: .zero,
                newAccount: AccountID(bits: 1), newIdentity: IdentityID(bits: 2),
                newSession: SessionID(bits: 3)))
        let token = try #require(ledger.scenario.given.refreshToken(of: ada))
        try ledger.accept(
            RefreshSession(
                session: ada.session, presented: token, successor: .zero, sealedSuccessor: []))
        try ledger.accept(
            LinkProvider(
                caller: ada, credential: Credential(subject("google", "ada"), digest: .zero),
                idempotency: nil, newIdentity: google))
        try ledger.accept(
            UnlinkProvider(
                caller: ada, provider: provider("google"), identity: nil, idempotency: nil))
        let former = FormerLink(of: google, in: ledger.scenario.given.log)
        try ledger.accept(
            RelinkProvider.Preview(
                account: ada.account, identity: google, former: former, actor: .system))
        try ledger.accept(
            RelinkProvider(
                account: ada.account, identity: google, former: former, actor: .system,
                reason: "r", caseReference: "c", isPreview: false))
        try ledger.accept(PlanUnlink.Preview(of: google, of: ada.account, actor: .system))
        try ledger.accept(
            PlanUnlink(
                .plan, of: google, of: ada.account, actor: .system, reason: "r",
                caseReference: "c"))
        try ledger.accept(EndUnlinkPlan(of: google, .kept(ada)))
        try mergeAndUndo(ada, bob, &ledger)
        try setPasswords(&ledger)
        let hold = try ledger.accept(
            SetLegalHold(account: ada.account, newHold: HoldID(bits: 5), actor: .system))
        try ledger.accept(LiftLegalHold(account: ada.account, hold: hold, actor: .system))
        try ledger.accept(
            ChangeAccess.Preview(.endSessions, of: ada.account, actor: .system))
        try changeFactors(&ledger)
        try ledger.accept(SignOut(caller: ada, scope: .session))
        try ledger.accept(
            ChangeAccess(
                .disable, of: ada.account, actor: .system, reason: "r", caseReference: "c"))
        try ledger.accept(EraseAccount.Preview(account: ada.account, actor: .system))
        try withdrawErasure(of: ada.account, &ledger)
        try ledger.accept(
            EraseAccount(account: ada.account, basis: .operator, actor: .system))
        return ledger.requests
    }

    /// Asks for an erasure by two people and withdraws that.
    private static func withdrawErasure(of account: AccountID, _ ledger: inout Accepted) throws {
        ledger.scenario.given.policy.eraseNeedsTwo = true
        let actor = Actor.principal(Principal(key: APIKeyID(bits: 31), role: .admin))
        let request = ErasureRequestID(bits: 32)
        let asked = try ledger.scenario.when(
            EraseAccount(
                account: account, basis: .operator, agreement: .named,
                step: .ask(request, reason: "r", sha256), actor: actor)
        ).result.get()
        #expect(EraseAccount.success(in: asked) != nil)
        try ledger.accept(EraseAccount.Withdrawal(request, of: account, actor: actor))
    }

    private static func changeFactors(_ ledger: inout Accepted) throws {
        let opened = try ledger.scenario.when(
            SignIn(
                proof(
                    subject("google", "gil"), authenticatedAt: Timestamp(seconds: 1_790_000_000)),
                createAccount: true, refreshToken: .zero, newAccount: AccountID(bits: 21),
                newIdentity: IdentityID(bits: 22), newSession: SessionID(bits: 23)))
        let grant = try #require(SignIn.success(in: try opened.result.get())).grant
        let factor = FactorID(bits: 24)
        let enrolled = try ledger.accept(
            EnrolFactor(
                caller: Caller(account: grant.account, session: grant.session),
                factor: NewFactor(id: factor, kind: .totp, secret: [], counter: 1),
                recoveryCodes: NewFactor(
                    id: FactorID(bits: 25), kind: .recoveryCodes, secret: [], counter: 0),
                token: nil, refreshToken: .zero, newSession: SessionID(bits: 26)))
        let session = try #require(enrolled.grant).session
        try ledger.accept(
            PlanFactorRemoval.Preview(of: factor, of: grant.account, actor: .system))
        try ledger.accept(
            PlanFactorRemoval(
                .plan, of: factor, of: grant.account, actor: .system, reason: "r",
                caseReference: "c"))
        try ledger.accept(
            RemoveFactor(
                factor, by: .accountHolder(Caller(account: grant.account, session: session))))
    }

    private static func mergeAndUndo(
        _ ada: Caller, _ bob: Caller, _ ledger: inout Accepted
    ) throws {
        let authority = MergeAccounts.Authority.accountHolder(
            ada, Credential(subject("facebook", "bob"), digest: .zero))
        let planned = try ledger.accept(
            MergeAccounts.Preview(authority: authority, keepsAbsorbed: [], digest: sha256))
        let outcome = try ledger.accept(
            MergeAccounts(
                authority: authority, keepsAbsorbed: [], agreed: planned.digest, digest: sha256))
        let merged = try #require(outcome.done)
        try ledger.accept(
            UnmergeAccounts.Preview(
                merge: merged.event, survivor: ada.account, absorbed: bob.account, actor: .system))
        try ledger.accept(
            UnmergeAccounts(
                merge: merged.event, survivor: ada.account, absorbed: bob.account, actor: .system,
                reason: "r", caseReference: "c", isPreview: false))
    }

    /// The number of types in the sources that are requests.
    private static func declaredCount() throws -> Int {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Sources/Ledger/Commands").standardizedFileURL
        return try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }
            .flatMap { $0.split(separator: "\n") }
            .count { $0.hasSuffix(": LedgerRequest {") }
    }
}
