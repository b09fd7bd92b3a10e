import Ledger
import LedgerEngine
import LedgerMessages
import LedgerTestSupport
import Testing

extension NoticeTests {
    @Test func `the changes of one transaction send no more notices than those of several`()
        async throws
    {
        try await with { scene in
            let ada = try await scene.signIn("ada@example.com")
            let commands = (1...30).map { number in
                let link = LinkProvider(
                    caller: ada,
                    credential: Credential(
                        provider: provider("google"), digest: .zero,
                        check: .success(google("ada"))),
                    idempotency: nil, newIdentity: IdentityID(bits: UInt128(number)))
                let unlink = UnlinkProvider(
                    caller: ada, provider: provider("google"), identity: nil, idempotency: nil)
                return Command(
                    id: CommandID(bits: UInt128(number)), tenant: .default,
                    origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
                    intent: number.isMultiple(of: 2)
                        ? .unlinkProvider(unlink) : .linkProvider(link))
            }
            let answers = await withCheckedContinuation { continuation in
                scene.ledger.sequencer.submit(commands) { continuation.resume(returning: $0) }
            }
            #expect(answers.allSatisfy { (try? $0.get().get()) != nil }, "\(answers)")
            let sent = try await scene.sent()
            #expect(sent.count == 20)
        }
    }

    /// A ledger that sends two notices by SMS within an hour.
    private func withTwoTexts(_ body: @Sendable (Scene) async throws -> Void) async throws {
        var policy = RandomCommands.policy(hasEveryType: true)
        policy.providers[RandomCommands.phone] = ProviderPin(type: .phone, issuers: [])
        policy.reauthenticationSeconds = .max / 2_000_000
        let rules = policy
        try await MessageFixture.with { messages in
            try await SequencerFixture.with(
                messages.database, policy: rules, noticeLanguage: .german, noticeTextsMax: 2
            ) { try await body(Scene(messages: messages, ledger: $0)) }
        }
    }

    /// The recipients of the messages that are sent now.
    private func told(_ scene: Scene) async throws -> [String] {
        try await scene.sent().map { String($0.prefix { $0 != " " }) }
    }

    private func signIn(_ scene: Scene, _ number: String) async throws -> Caller {
        try await scene.signIn(
            numberProof(number, new: AddressID(bits: .random(in: 1...(.max)))))
    }

    @Test func `a tenant's notices by SMS have a limit, but the first one to a number in a day`()
        async throws
    {
        try await withTwoTexts { scene in
            let (ada, bob) = ("+4915123450001", "+4915123450002")
            let holder = try await signIn(scene, ada)
            for _ in 0..<2 {
                try await scene.link(holder, google("ada"))
                try await scene.unlink(holder, provider("google"))
            }
            #expect(try await told(scene) == [ada, ada])
            // Another person is told once, and by e-mail as ever.
            let other = try await signIn(scene, bob)
            try await scene.link(
                other, addressProof("bob@example.com", new: AddressID(bits: 7)))
            try await scene.link(other, google("bob"))
            #expect(try await told(scene) == [bob, "bob@example.com"])
            // Sign-ins from new devices count by themselves.
            _ = try await scene.signIn(google("bob"), isNewDevice: true)
            #expect(try await told(scene) == [bob, "bob@example.com"])
            _ = try await scene.signIn(google("bob"), isNewDevice: true)
            #expect(try await told(scene) == ["bob@example.com"])
            // An hour later the limit counts anew.
            try await scene.messages.database.asSuperuser.execute(
                """
                UPDATE messages SET message_id =
                    replace(message_id::text, left(message_id::text, 8), '00000001')::uuid
                """)
            for _ in 0..<2 {
                try await scene.link(holder, google("ada"))
                try await scene.unlink(holder, provider("google"))
            }
            #expect(try await told(scene) == [ada, ada])
        }
    }

    @Test func `the SMS of one transaction count, too`() async throws {
        try await withTwoTexts { scene in
            let ada = try await signIn(scene, "+4915123450001")
            let commands = (1...4).map { number in
                let link = LinkProvider(
                    caller: ada,
                    credential: Credential(
                        provider: provider("google"), digest: .zero,
                        check: .success(google("ada"))),
                    idempotency: nil, newIdentity: IdentityID(bits: UInt128(number)))
                let unlink = UnlinkProvider(
                    caller: ada, provider: provider("google"), identity: nil, idempotency: nil)
                return Command(
                    id: CommandID(bits: UInt128(number)), tenant: .default,
                    origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
                    intent: number.isMultiple(of: 2)
                        ? .unlinkProvider(unlink) : .linkProvider(link))
            }
            let answers = await withCheckedContinuation { continuation in
                scene.ledger.sequencer.submit(commands) { continuation.resume(returning: $0) }
            }
            #expect(answers.allSatisfy { (try? $0.get().get()) != nil }, "\(answers)")
            #expect(try await scene.sent().count == 2)
        }
    }
}
