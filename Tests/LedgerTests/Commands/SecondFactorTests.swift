import LedgerTestSupport
import Testing

@testable import Ledger

/// Second factors: enrolment, sign-ins in two steps, recovery codes, and the changes that need a factor.
struct SecondFactorTests {
    private static let now = Timestamp(seconds: 1_790_000_000)
    private static let anonymous = provider("anonymous")

    private struct Story {
        var scenario = Scenario {
            $0.providers[SecondFactorTests.anonymous] = ProviderPin(type: .anonymous, issuers: [])
        }
        private var last: UInt128 = 100
        let subject = LedgerTestSupport.subject("apple", "ada")
        var ada = Caller(account: AccountID(bits: 0), session: SessionID(bits: 0))
        var factor = FactorID(bits: 0)
        var codes = FactorID(bits: 0)

        /// Signs in, and enrols a factor if requested.
        init(isEnrolled: Bool = true) throws {
            let opened = try scenario.when(signIn())
            ada = try caller(opened)
            guard isEnrolled else { return }
            let command = enrol()
            (factor, codes) = (command.factor.id, command.recoveryCodes.id)
            ada = try caller(try scenario.when(command))
        }

        mutating func next<Kind>() -> EntityID<Kind> {
            last += 1
            return EntityID(bits: last)
        }

        func caller(_ effects: Scenario.Effects) throws -> Caller {
            switch effects.result {
            case .success(.signedIn(let grant, _)), .success(.factorEnrolled(_, let grant?)):
                return Caller(account: grant.account, session: grant.session)
            default: throw ModelLedger.Unexpected(result: effects.result)
            }
        }

        mutating func signIn(
            _ proof: Proof? = nil, second: SecondFactorProof? = nil
        ) -> SignIn {
            SignIn(
                proof
                    ?? LedgerTestSupport.proof(subject, authenticatedAt: SecondFactorTests.now),
                secondFactor: second, createAccount: second == nil, refreshToken: .zero,
                newAccount: next(), newIdentity: next(), newSession: next())
        }

        mutating func enrol(
            _ kind: FactorKind = .totp, token: SingleUseIDToken? = nil
        ) -> EnrolFactor {
            EnrolFactor(
                caller: ada, factor: NewFactor(id: next(), kind: kind, secret: [1], counter: 41),
                recoveryCodes: NewFactor(
                    id: next(), kind: .recoveryCodes, secret: [2], counter: 0),
                token: token, refreshToken: .zero, newSession: next())
        }

        mutating func second(
            _ factor: FactorID, _ counter: Int64?, token: Digest = .zero,
            of account: AccountID? = nil
        ) -> SecondFactorProof {
            let id: SessionID = next()
            return SecondFactorProof(
                token: SingleUseIDToken(
                    digest: token == .zero ? sha256(Array("\(id)".utf8)) : token,
                    expiresAt: SecondFactorTests.now),
                account: account ?? ada.account,
                use: counter.map { FactorUse(factor: factor, counter: $0) })
        }

        /// Signs in with a second factor.
        mutating func finish(_ factor: FactorID, _ counter: Int64?) throws -> Scenario.Effects {
            let second = second(factor, counter)
            return try scenario.when(signIn(second: second))
        }

        mutating func link(_ name: String) -> LinkProvider {
            LinkProvider(
                caller: ada,
                credential: Credential(
                    LedgerTestSupport.subject(name, "ada"), digest: .zero),
                idempotency: nil, newIdentity: next())
        }

        /// Executes a command some seconds after the others.
        mutating func when(
            _ request: some LedgerRequest, after seconds: Int64
        ) throws -> Result<Reply, Refusal> {
            let command = Command(
                id: next(), tenant: .default,
                origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
                intent: request.intent)
            return try scenario.given.execute(
                command, at: SecondFactorTests.now.adding(seconds: seconds)
            ).result
        }

        var liveSessions: [SessionID] {
            scenario.given.state.ledger.sessions.values.filter { $0.endedPosition == nil }
                .map(\.id)
        }
    }

    @Test func `the first factor ends all sessions, opens one, and brings recovery codes`() throws {
        var story = try Story(isEnrolled: false)
        _ = try story.scenario.when(story.signIn())
        #expect(story.liveSessions.count == 2)
        let command = story.enrol()
        let account = story.ada.account
        let done = try story.scenario.when(command)
        #expect(
            done.events.prefix(2) == [
                .secondFactorEnrolled(
                    SecondFactorEnrolled(
                        account: account, factor: command.factor.id, kind: .totp, isFirst: true)),
                .secondFactorEnrolled(
                    SecondFactorEnrolled(
                        account: account, factor: command.recoveryCodes.id, kind: .recoveryCodes,
                        isFirst: false)),
            ])
        let success = try #require(EnrolFactor.success(in: try done.result.get()))
        #expect(success.isFirst && success.grant?.methods.description == "fed mfa otp")
        #expect(story.liveSessions == [command.newSession])
        story.ada = try story.caller(done)
        let more = story.enrol()
        #expect(
            try story.scenario.when(more)
                == then(
                    .factorEnrolled(isFirst: false, nil),
                    .secondFactorEnrolled(
                        SecondFactorEnrolled(
                            account: account, factor: more.factor.id, kind: .totp, isFirst: false)))
        )
    }

    @Test func `every sign-in needs a factor, whose code works once`() throws {
        var story = try Story()
        #expect(
            try story.scenario.when(story.signIn())
                == refused(.secondFactorRequired(story.ada.account)))
        // The step of the enrolment is used, too.
        #expect(try story.finish(story.factor, 41).result == .failure(.invalidCode))
        let done = try story.finish(story.factor, 42)
        #expect(done.events.map(\.name) == [.signedIn])
        #expect(
            SignIn.success(in: try done.result.get())?.grant.methods.includesSecondFactor == true)
        #expect(try story.finish(story.factor, 42) == refused(.invalidCode))
        #expect(try story.finish(story.factor, 43).events.count == 1)
    }

    @Test func `a sign-in token works once, and for its account`() throws {
        var story = try Story()
        let token = sha256([7])
        let first = story.signIn(second: story.second(story.factor, 42, token: token))
        #expect(try story.scenario.when(first).events.count == 1)
        let again = story.signIn(second: story.second(story.factor, 43, token: token))
        #expect(try story.scenario.when(again) == refused(.invalidCode))
        let bob = try story.scenario.given.signIn(subject("google", "bob"))
        let other = story.signIn(
            second: story.second(story.factor, 43, of: bob.account))
        #expect(try story.scenario.when(other) == refused(.invalidCode))
        let foreign = story.signIn(
            proof(subject("google", "bob")),
            second: story.second(story.factor, 43, of: bob.account))
        #expect(try story.scenario.when(foreign) == refused(.invalidCode))
    }

    @Test func `wrong codes are in the log once in a window`() throws {
        var story = try Story()
        let identity = try #require(
            story.scenario.given.state.ledger.accounts[story.ada.account]?.links.first?.identity)
        let fact = SecondFactorRefused(
            account: story.ada.account, identity: identity, provider: provider("apple"))
        #expect(
            try story.finish(story.factor, nil) == refused(.invalidCode, .secondFactorRefused(fact))
        )
        #expect(try story.finish(story.factor, nil) == refused(.invalidCode))
        let late = story.signIn(second: story.second(story.factor, nil))
        let count = story.scenario.given.events.count
        #expect(try story.when(late, after: 3_700) == .failure(.invalidCode))
        #expect(story.scenario.given.events.count == count + 1)
    }

    @Test func `a recovery code stands in for a factor once, until there is a new set`() throws {
        var story = try Story()
        let done = try story.finish(story.codes, 3)
        #expect(
            done.events.first
                == .recoveryCodeUsed(
                    RecoveryCodeUsed(account: story.ada.account, code: 3, factor: story.codes)))
        #expect(try story.finish(story.codes, 3).result == .failure(.invalidCode))
        story.ada = try story.caller(try story.finish(story.codes, 4))
        let renewal = story.enrol(.recoveryCodes)
        #expect(
            try story.scenario.when(renewal)
                == then(
                    .factorEnrolled(isFirst: false, nil),
                    .secondFactorEnrolled(
                        SecondFactorEnrolled(
                            account: story.ada.account, factor: renewal.factor.id,
                            kind: .recoveryCodes, isFirst: false, replaced: story.codes))))
        #expect(try story.finish(story.codes, 5).result == .failure(.invalidCode))
        #expect(try story.finish(renewal.factor.id, 3).events.count == 2)
    }

    @Test func `an enrolment token works once`() throws {
        var story = try Story()
        let token = SingleUseIDToken(digest: sha256([8]), expiresAt: Self.now)
        let command = story.enrol(token: token)
        _ = try story.scenario.when(command).result.get()
        _ = try story.scenario.when(
            RemoveFactor(command.factor.id, by: .accountHolder(story.ada))
        ).result.get()
        #expect(try story.scenario.when(story.enrol(token: token)) == refused(.invalidCode))
    }

    @Test
    func `recovery codes without a factor, too many factors and anonymous accounts are refused`()
        throws
    {
        var story = try Story(isEnrolled: false)
        #expect(
            try story.scenario.when(story.enrol(.recoveryCodes))
                == refused(.factorRefused(.noFactor)))
        story = try Story()
        for _ in 1..<EnrolFactor.factorsMax {
            _ = try story.scenario.when(story.enrol()).result.get()
        }
        #expect(try story.scenario.when(story.enrol()) == refused(.factorRefused(.tooMany)))
        let stranger = story.signIn(
            proof(subject("anonymous", "s"), authenticatedAt: Self.now, methods: .anonymous))
        story.ada = try story.caller(try story.scenario.when(stranger))
        #expect(try story.scenario.when(story.enrol()) == refused(.factorRefused(.anonymous)))
    }

    @Test func `the recovery codes go with the last factor`() throws {
        var story = try Story()
        let other = story.enrol()
        _ = try story.scenario.when(other).result.get()
        func removed(_ factor: FactorID, _ kind: FactorKind) -> Event {
            .secondFactorRemoved(
                SecondFactorRemoved(
                    account: story.ada.account, cause: .holder, factor: factor, kind: kind))
        }
        #expect(
            try story.scenario.when(RemoveFactor(other.factor.id, by: .accountHolder(story.ada)))
                == then(.factorRemoved, removed(other.factor.id, .totp)))
        #expect(
            try story.scenario.when(RemoveFactor(story.factor, by: .accountHolder(story.ada)))
                == then(
                    .factorRemoved, removed(story.factor, .totp),
                    removed(story.codes, .recoveryCodes)))
        #expect(
            try story.scenario.when(RemoveFactor(story.factor, by: .accountHolder(story.ada)))
                == refused(.unknownFactor))
        #expect(try story.scenario.when(story.signIn()).events.count == 1)
    }

    @Test func `changes need a sign-in with the factor within ten minutes`() throws {
        var story = try Story()
        func expectRefusals(
            _ story: inout Story, after seconds: Int64 = 0
        ) throws {
            let late = Result<Reply, Refusal>.failure(.reauthenticationRequired)
            #expect(try story.when(story.link("google"), after: seconds) == late)
            #expect(try story.when(story.enrol(), after: seconds) == late)
            #expect(try story.when(story.enrol(.recoveryCodes), after: seconds) == late)
            let removal = RemoveFactor(story.factor, by: .accountHolder(story.ada))
            #expect(try story.when(removal, after: seconds) == late)
            let merge = MergeAccounts.Preview(
                authority: .accountHolder(
                    story.ada, Credential(subject("google", "bob"), digest: .zero)),
                keepsAbsorbed: [], digest: sha256)
            #expect(try story.when(merge, after: seconds) == late)
        }
        _ = try story.scenario.when(story.link("facebook")).result.get()
        try expectRefusals(&story, after: 700)
        story = try Story(isEnrolled: false)
        let session = story.ada
        _ = try story.scenario.when(story.enrol()).result.get()
        story.ada = session
        #expect(try story.scenario.when(story.link("google")) == refused(.sessionEnded))
    }

    @Test func `an unlink needs the factor, too`() throws {
        var story = try Story()
        _ = try story.scenario.when(story.link("google")).result.get()
        let unlink = UnlinkProvider(
            caller: story.ada, provider: provider("google"), identity: nil, idempotency: nil)
        #expect(
            try story.when(unlink, after: 700) == .failure(.reauthenticationRequired))
    }

    @Test func `the first enrolment needs a recent sign-in`() throws {
        var story = try Story(isEnrolled: false)
        #expect(
            try story.when(story.enrol(), after: 700) == .failure(.reauthenticationRequired))
        _ = try story.scenario.when(SignOut(caller: story.ada, scope: .session)).result.get()
        #expect(try story.scenario.when(story.enrol()) == refused(.sessionEnded))
        #expect(
            try story.scenario.when(RemoveFactor(story.factor, by: .accountHolder(story.ada)))
                == refused(.sessionEnded))
    }

    @Test func `merges and their undoing leave an account with a factor to its holder`() throws {
        var story = try Story()
        let bob = try story.scenario.given.signIn(subject("google", "bob"))
        func merge(_ absorbed: AccountID, into survivor: AccountID) -> MergeAccounts.Preview {
            MergeAccounts.Preview(
                authority: .support(
                    .system,
                    MergeAccounts.Case(
                        survivor: survivor, absorbed: absorbed, reason: "r", reference: "c")),
                keepsAbsorbed: [], digest: sha256)
        }
        let ada = story.ada.account
        #expect(
            try story.scenario.when(merge(ada, into: bob.account))
                == refused(.secondFactorEnrolled))
        #expect(
            try story.scenario.when(merge(bob.account, into: ada))
                == refused(.secondFactorEnrolled))
        let credential = Credential(subject("google", "bob"), digest: .zero)
        let authority = MergeAccounts.Authority.accountHolder(story.ada, credential)
        let planned = try story.scenario.when(
            MergeAccounts.Preview(authority: authority, keepsAbsorbed: [], digest: sha256))
        let digest = try #require(MergeAccounts.Preview.success(in: try planned.result.get()))
            .digest
        let merged = try story.scenario.when(
            MergeAccounts(
                authority: authority, keepsAbsorbed: [], agreed: digest, digest: sha256))
        let event = try #require(MergeAccounts.success(in: try merged.result.get())?.done).event
        #expect(
            try story.scenario.when(
                UnmergeAccounts.Preview(
                    merge: event, survivor: ada, absorbed: bob.account, actor: .system))
                == refused(.secondFactorEnrolled))
        // The other direction, by its holder: the absorbed account is the one with the factor.
        story = try Story()
        let other = story.signIn(
            proof(subject("google", "bob"), authenticatedAt: Self.now))
        let holder = try story.caller(try story.scenario.when(other))
        #expect(
            try story.scenario.when(
                MergeAccounts.Preview(
                    authority: .accountHolder(
                        holder, Credential(story.subject, digest: .zero)),
                    keepsAbsorbed: [], digest: sha256)) == refused(.secondFactorEnrolled))
    }

    @Test func `the log refuses factors that cannot be`() throws {
        let story = try Story()
        let account = story.ada.account
        let unknown = FactorID(bits: 9)
        let impossible: [Event] = [
            .secondFactorEnrolled(
                SecondFactorEnrolled(
                    account: account, factor: unknown, kind: .totp, isFirst: true)),
            .secondFactorEnrolled(
                SecondFactorEnrolled(
                    account: account, factor: story.factor, kind: .totp, isFirst: false)),
            .secondFactorEnrolled(
                SecondFactorEnrolled(
                    account: account, factor: unknown, kind: .recoveryCodes, isFirst: false,
                    replaced: story.factor)),
            .secondFactorRemoved(
                SecondFactorRemoved(
                    account: account, cause: .holder, factor: unknown, kind: .totp)),
            .secondFactorRemoved(
                SecondFactorRemoved(
                    account: account, cause: .holder, factor: story.factor, kind: .recoveryCodes)),
            .recoveryCodeUsed(RecoveryCodeUsed(account: account, code: 1, factor: story.factor)),
            .recoveryCodeUsed(RecoveryCodeUsed(account: account, code: 63, factor: story.codes)),
        ]
        for event in impossible {
            var ledger = story.scenario.given.state.ledger
            var replayed = ReplayedAccount(account, in: .default)
            for recording in story.scenario.given.log
            where recording.recorded.accounts.contains(where: { $0.id == account }) {
                try replayed.apply(recording.recorded, leaf: recording.leaf)
            }
            let recorded = RecordedEvent(
                tenant: .default, position: ledger.nextPosition, id: EventID(bits: 1),
                recordedAt: Self.now.adding(seconds: 60), actor: .system,
                command: CommandID(bits: 2), request: nil,
                accounts: [ledger.reference(to: account)], disclosureDigests: [], event: event)
            #expect(throws: FoldFault.self, "\(event)") { try ledger.apply(recorded, leaf: .zero) }
            #expect(throws: FoldFault.self, "\(event)") {
                try replayed.apply(recorded, leaf: .zero)
            }
        }
    }
}
