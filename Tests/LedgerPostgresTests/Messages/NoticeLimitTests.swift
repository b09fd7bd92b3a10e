import Ledger
import LedgerEngine
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
}
