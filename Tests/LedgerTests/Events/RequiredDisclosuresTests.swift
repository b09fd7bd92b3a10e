import Ledger
import LedgerTestSupport
import Testing

/// Whether the table of disclosures is what commands do.
@Suite struct RequiredDisclosuresTests {
    /// What a provider or a client may leave out.
    private static let optional: Set<Disclosure.Name> = [.email, .emailVerified, .userAgent]

    private static func expectTable(
        of event: Event, disclosing disclosed: [Disclosure.Name]
    ) {
        #expect(
            Set(event.requiredDisclosures) == Set(disclosed).subtracting(optional), "\(event)")
    }

    @Test func `every command discloses what the table says, and nothing else that must be there`()
        throws
    {
        var seen: Set<Event.Name> = []
        for seed in UInt64(1)...12 {
            for step in try RandomLog(seed: seed, commands: 400).steps {
                Self.expectTable(of: step.recorded.event, disclosing: step.disclosed)
                seen.insert(step.recorded.event.name)
            }
        }
        let rare: Set<Event.Name> = [.ledgerOpened, .keyRotated, .ledgerRestored]
        #expect(seen == Set(Event.Name.allCases).subtracting(rare))
    }

    @Test func `a link that support makes again discloses what the table says`() throws {
        var ledger = ModelLedger(policy: SequencerFixture.roomyPolicy)
        let caller = try ledger.signIn(subject("apple", "ada"))
        _ = try ledger.link(caller, .proved(subject("google", "ada-g"), email: nil), token: 1)
        let identity = try #require(ledger.identities(of: caller, "google").first)
        _ = try ledger.unlink(caller, "google").get()
        _ = try ledger.relink(identity, to: caller.account).get()
        let relinked = try #require(ledger.log.last)
        guard case .providerLinked(let fact) = relinked.recorded.event, fact.cause == .relink else {
            Issue.record("another event: \(relinked.recorded.event)")
            return
        }
        Self.expectTable(
            of: relinked.recorded.event, disclosing: relinked.disclosed.map(\.name))
    }

    @Test func `what is missing is told by its names, and without values by its number`() throws {
        let linked = Examples.recorded(.providerLinked)
        var disclosed = DisclosedValues()
        #expect(linked.missingDisclosures(among: disclosed) == [.clientIP, .providerID])
        _ = disclosed.add(Disclosure(.providerID, "ada"))
        #expect(linked.missingDisclosures(among: disclosed) == [.clientIP])
        let bare = RecordedEvent(
            tenant: linked.tenant, position: linked.position, id: linked.id,
            recordedAt: linked.recordedAt, actor: linked.actor, command: linked.command,
            request: linked.request, accounts: linked.accounts, disclosureDigests: [.zero],
            event: linked.event)
        #expect(bare.shortfall?.count == 1 && bare.shortfall?.required == 2)
    }
}
