import Ledger
import LedgerEngine
import LedgerMessages
import LedgerTestSupport
import Testing

@testable import LedgerPostgres

/// The notices of events to the addresses of accounts.
@Suite struct NoticeTests {
    private static let policy: TenantPolicy = {
        var policy = RandomCommands.policy(hasEveryType: true)
        policy.reauthenticationSeconds = .max / 2_000_000
        policy.linkBudget = Budget(limit: 1_000, windowSeconds: 3_600)
        return policy
    }()

    /// A ledger whose people have addresses.
    struct Scene {
        let messages: MessageFixture
        let ledger: SequencerFixture

        func signIn(_ address: String) async throws -> Caller {
            try await signIn(addressProof(address, new: AddressID(bits: .random(in: 1...(.max)))))
        }

        func signIn(_ proof: Proof, isNewDevice: Bool = false) async throws -> Caller {
            var generator = SeededGenerator(seed: .random(in: 0...(.max)))
            return try caller(
                try await ledger.submit(
                    .signIn(
                        SignIn(
                            proof, isNewDevice: isNewDevice, createAccount: true,
                            refreshToken: digest(generator.bytes(32)), newAccount: generator.id(),
                            newIdentity: generator.id(), newSession: generator.id()))))
        }

        func signUp(_ address: String, password hash: String) async throws -> Caller {
            var generator = SeededGenerator(seed: .random(in: 0...(.max)))
            return try caller(
                try await ledger.submit(
                    .signIn(SignIn(address: address, password: hash, &generator))))
        }

        private func caller(_ result: Result<Reply, Refusal>) throws -> Caller {
            guard case .success(.signedIn(let grant, _)) = result else {
                throw ModelLedger.Unexpected(result: result)
            }
            return Caller(account: grant.account, session: grant.session)
        }

        func link(_ caller: Caller, _ proof: Proof) async throws {
            let link = LinkProvider(
                caller: caller,
                credential: Credential(
                    provider: proof.subject.provider, digest: .zero, check: .success(proof)),
                idempotency: nil, newIdentity: IdentityID(bits: .random(in: 1...(.max))))
            _ = try await ledger.submit(.linkProvider(link)).get()
        }

        func unlink(_ caller: Caller, _ name: ProviderName) async throws {
            let unlink = UnlinkProvider(
                caller: caller, provider: name, identity: nil, idempotency: nil)
            _ = try await ledger.submit(.unlinkProvider(unlink)).get()
        }

        func merge(_ absorbed: Caller, into survivor: Caller) async throws -> EventID {
            func intent(_ agreed: Digest?) -> MergeAccounts {
                MergeFixture.intent(
                    absorbed.account, into: survivor.account, keeping: [], agreed: agreed)
            }
            guard
                case .mergePlanned(_, let digest) =
                    try await ledger.submit(.mergeAccounts(intent(nil))).get(),
                case .merged(_, let event?) =
                    try await ledger.submit(.mergeAccounts(intent(digest))).get()
            else { throw Unexpected(what: "not merged") }
            return event
        }

        /// Returns recipient, template, language and provider of each message that is sent now.
        func sent() async throws -> [String] {
            let store = messages.store()
            var found: [String] = []
            for channel in MessageChannel.allCases {
                for leased in try await store.take(channel, atMost: 1_000, besides: [:]) {
                    guard
                        case .ready(let message, _, let language, _) =
                            try await store.begin(leased)
                    else { continue }
                    let provider = message.content.values[.provider] ?? "-"
                    found.append(
                        "\(message.recipient) \(message.content.template.rawValue)"
                            + " \(language.rawValue) \(provider)")
                    try await store.end(leased, .sent(code: nil))
                }
            }
            await store.close()
            return found.sorted()
        }
    }

    func with(_ body: @Sendable (Scene) async throws -> Void) async throws {
        try await MessageFixture.with { messages in
            try await SequencerFixture.with(
                messages.database, policy: Self.policy, noticeLanguage: .german
            ) { try await body(Scene(messages: messages, ledger: $0)) }
        }
    }

    func google(_ name: String) -> Proof { proof(subject("google", name)) }

    @Test func `links and unlinks are told to the address that an account has`() async throws {
        try await with { scene in
            let ada = try await scene.signIn("ada@example.com")
            #expect(try await scene.sent() == [], "a sign-up has no notice")
            try await scene.link(ada, google("ada"))
            #expect(
                try await scene.sent() == [
                    "ada@example.com provider_linked de google of default"
                ])
            try await scene.unlink(ada, provider("google"))
            #expect(
                try await scene.sent() == [
                    "ada@example.com provider_unlinked de google of default"
                ])
            // The address stays the account's after its own unlink.
            try await scene.link(ada, google("ada"))
            try await scene.unlink(ada, RandomCommands.email)
            #expect(
                try await scene.sent() == [
                    "ada@example.com provider_linked de google of default",
                    "ada@example.com provider_unlinked de email of default",
                ])
        }
    }

    @Test func `no notice goes to an address about its own link or a sign-in`() async throws {
        try await with { scene in
            let ada = try await scene.ledger.signIn(subject("google", "ada"))
            try await scene.link(ada, addressProof("ada@example.com", new: AddressID(bits: 7)))
            _ = try await scene.signIn("ada@example.com")
            #expect(try await scene.sent() == [])
        }
    }

    @Test func `no notice goes to an address that is only claimed`() async throws {
        try await with { scene in
            let ada = try await scene.signIn("ada@example.com")
            let claim = passwordProof(
                "other@example.com", new: AddressID(bits: 9), hash: "hash", isClaim: true)
            for proof in [claim, google("ada")] { try await scene.link(ada, proof) }
            let sent = try await scene.sent()
            #expect(sent.count == 2 && sent.allSatisfy { $0.hasPrefix("ada@") })
        }
    }

    @Test func `changes of second factors are told`() async throws {
        try await with { scene in
            var generator = SeededGenerator(seed: 1)
            let ada = try await scene.signIn("ada@example.com")
            func expect(_ template: String, _ intent: Command.Intent) async throws {
                _ = try await scene.ledger.submit(intent).get()
                #expect(try await scene.sent() == ["ada@example.com \(template) de -"])
            }
            let enrolled = EnrolFactor(by: ada, &generator)
            try await expect("factor_added", .enrolFactor(enrolled))
            let factor = enrolled.factor.id
            let caller = Caller(account: ada.account, session: enrolled.newSession)
            try await expect(
                "recovery_code_used",
                .signIn(
                    SignIn(
                        addressProof("ada@example.com", new: AddressID(bits: 9)), of: ada.account,
                        factor: enrolled.recoveryCodes.id, counter: 3, &generator)))
            try await expect(
                "recovery_codes_replaced",
                .enrolFactor(EnrolFactor(.recoveryCodes, by: caller, &generator)))
            try await expect(
                "removal_planned",
                .planFactorRemoval(
                    PlanFactorRemoval(
                        .plan, of: factor, of: ada.account, actor: .system, reason: "lost",
                        caseReference: "5")))
            try await expect(
                "factor_removed", .removeFactor(RemoveFactor(factor, by: .accountHolder(caller))))
        }
    }

    @Test func `an unlink by support is told when it is planned`() async throws {
        try await with { scene in
            let ada = try await scene.signIn("ada@example.com")
            let link = LinkProvider(
                caller: ada, credential: Credential(subject("google", "ada"), digest: .zero),
                idempotency: nil, newIdentity: IdentityID(bits: 77))
            _ = try await scene.ledger.submit(.linkProvider(link)).get()
            _ = try await scene.sent()
            for (change, told) in [
                (PlanUnlink.Change.plan, ["ada@example.com unlink_planned de google of default"]),
                (.stop, []),
            ] {
                let plan = PlanUnlink(
                    change, of: link.newIdentity, of: ada.account, actor: .system,
                    reason: "not theirs", caseReference: "5")
                _ = try await scene.ledger.submit(.planUnlink(plan)).get()
                #expect(try await scene.sent() == told)
            }
            let unlinked = Event.providerUnlinked(
                ProviderUnlinked(
                    account: ada.account, identity: link.newIdentity, provider: provider("google"),
                    cause: .support))
            let last = try #require(try await scene.ledger.log().last).recorded
            let recorded = RecordedEvent(
                tenant: .default, position: last.position.next, id: last.id,
                recordedAt: last.recordedAt, actor: .system, command: last.command, request: nil,
                accounts: last.accounts, disclosureDigests: [], event: unlinked)
            #expect(recorded.notices?.template == .providerUnlinked)
        }
    }

    @Test func `a merge is told to both sides, and so is its undoing`() async throws {
        try await with { scene in
            let ada = try await scene.signIn("ada@example.com")
            try await scene.link(ada, google("ada"))
            let bob = try await scene.signIn("bob@example.com")
            try await scene.link(bob, proof(subject("apple", "bob")))
            try await scene.unlink(bob, RandomCommands.email)
            _ = try await scene.sent()
            let merge = try await scene.merge(bob, into: ada)
            #expect(
                try await scene.sent() == [
                    "ada@example.com accounts_merged de -", "bob@example.com accounts_merged de -",
                ])
            try await scene.unlink(ada, provider("google"))
            #expect(try await scene.sent().count == 2, "the survivor has both addresses")
            _ = try await scene.ledger.submit(
                .unmergeAccounts(
                    UnmergeAccounts(
                        merge: merge, survivor: ada.account, absorbed: bob.account,
                        actor: .system, reason: "two people", caseReference: "case 8",
                        isPreview: false))
            ).get()
            #expect(
                try await scene.sent() == [
                    "ada@example.com merge_undone de -", "bob@example.com merge_undone de -",
                ])
        }
    }

    @Test func `later events of a merged account are told to every address of it`() async throws {
        try await with { scene in
            let eve = try await scene.signIn("eve@example.com")
            let ada = try await scene.signIn("ada@example.com")
            let bob = try await scene.signIn("bob@example.com")
            _ = try await scene.merge(ada, into: bob)
            _ = try await scene.merge(bob, into: eve)
            _ = try await scene.sent()
            try await scene.link(eve, google("eve"))
            #expect(
                try await scene.sent()
                    == ["ada", "bob", "eve"].map {
                        "\($0)@example.com provider_linked de google of default"
                    })
        }
    }

    @Test func `the notices of one account leave those of a merged one their number`() async throws
    {
        try await with { scene in
            let eve = try await scene.signIn("eve@example.com")
            for _ in 0..<10 {
                try await scene.link(eve, google("eve"))
                try await scene.unlink(eve, provider("google"))
            }
            #expect(try await scene.sent().count == 20)
            let ada = try await scene.signIn("ada@example.com")
            _ = try await scene.merge(ada, into: eve)
            #expect(try await scene.sent() == ["ada@example.com accounts_merged de -"])
        }
    }

    @Test func `a disabling is told, and ends the codes of the account's addresses`() async throws {
        try await with { scene in
            let ada = try await scene.signIn("ada@example.com")
            _ = try await scene.signIn("bob@example.com")
            try await scene.messages.database.asSuperuser.execute(
                """
                INSERT INTO challenges (tenant_id, challenge_id, provider, digest, code_digest,
                    key_id, sealed, wrapping_key, expires_at)
                SELECT tenant_id, gen_random_uuid(), 'email', digest, sha256('b'), key_id, 'sealed',
                    'key', '2099-01-01' FROM addresses
                """)
            let change = ChangeAccess(
                .disable, of: ada.account, actor: .system, reason: "stolen", caseReference: "6")
            _ = try await scene.ledger.submit(.changeAccess(change)).get()
            #expect(try await scene.sent() == ["ada@example.com account_disabled de -"])
            let left = try await scene.messages.database.rows(
                """
                (a.account_id = '\(ada.account)')::text])
                FROM challenges c JOIN addresses a USING (tenant_id, digest)
                """)
            #expect(left == ["false"])
        }
    }

    @Test func `a reset of a password is told, its first setting is not`() async throws {
        try await with { scene in
            let ada = try await scene.signUp("ada@example.com", password: "hash")
            #expect(try await scene.sent() == [])
            let proved = addressProof("ada@example.com", new: AddressID(bits: 9))
            let reset = ResetPassword(
                Proof(
                    subject("password", proved.subject.providerID),
                    authenticatedAt: proved.authenticatedAt, methods: .oneTimePassword,
                    email: proved.email, address: proved.address),
                password: NewPassword(hash: "other"))
            _ = try await scene.ledger.submit(.resetPassword(reset)).get()
            #expect(try await scene.sent() == ["ada@example.com password_changed de -"])
            #expect(ada.account.bits != 0)
        }
    }

    @Test func `links and unlinks in turns send at most 20 notices an hour`() async throws {
        try await with { scene in
            let ada = try await scene.signIn("ada@example.com")
            for _ in 0..<12 {
                try await scene.link(ada, google("ada"))
                try await scene.unlink(ada, provider("google"))
            }
            #expect(try await scene.sent().count == 20)
        }
    }

    @Test func `notices are withdrawn with their address and deleted with their account`()
        async throws
    {
        try await with { scene in
            let ada = try await scene.signIn("ada@example.com")
            try await scene.link(ada, google("ada"))
            try await scene.messages.database.asSuperuser.execute("DELETE FROM addresses")
            #expect(try await scene.sent() == [])
            #expect(
                try await scene.messages.texts("SELECT state FROM messages") == ["withdrawn"])
            let bob = try await scene.signIn("bob@example.com")
            try await scene.link(bob, google("bob"))
            let erase = EraseAccount(
                account: bob.account, basis: .dataSubjectRequest, actor: .system)
            _ = try await scene.ledger.submit(.eraseAccount(erase)).get()
            #expect(
                try await scene.messages.texts(
                    "SELECT state FROM messages WHERE account_id = '\(bob.account)'") == [])
        }
    }

    @Test func `without a language there are no notices`() async throws {
        try await MessageFixture.with { messages in
            try await SequencerFixture.with(messages.database, policy: Self.policy) { ledger in
                let scene = Scene(messages: messages, ledger: ledger)
                let ada = try await scene.signIn("ada@example.com")
                try await scene.link(ada, google("ada"))
                #expect(try await messages.texts("SELECT state FROM messages") == [])
            }
        }
    }

    @Test func `a display name that no message can contain is replaced by the provider's name`()
        async throws
    {
        try await with { scene in
            let ada = try await scene.signIn("ada@example.com")
            try await scene.link(ada, google("ada"))
            let store = scene.messages.store { _, _ in "My {App}" }
            let leased = try #require(try await store.take(.email, atMost: 1, besides: [:]).first)
            guard case .ready(let message, _, _, _) = try await store.begin(leased) else {
                Issue.record("the notice can't be read")
                return
            }
            #expect(message.content.values[.provider] == "google")
            await store.close()
        }
    }

    @Test func `a notice does not go where the tenant sends nothing`() async throws {
        try await with { scene in
            let ada = try await scene.signIn("ada@example.com")
            try await scene.link(ada, google("ada"))
            let dispatcher = scene.messages.dispatcher {
                $0.maySend = { _, _, address in !address.hasPrefix("ada@") }
            }
            _ = try await scene.messages.running(dispatcher) {
                try await eventually("the notice to fail") {
                    try await scene.messages.texts("SELECT state FROM messages") == ["failed"]
                        ? true : nil
                }
            }
            #expect(scene.messages.transport.attempts.isEmpty)
        }
    }
}
