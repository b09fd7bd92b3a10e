import Ledger
import LedgerTestSupport
import Testing

/// Compares the table of disclosures with the commands.
@Suite struct RequiredDisclosuresTests {
    /// The disclosures that a provider or a client may omit.
    private static let optional: Set<Disclosure.Name> = [.email, .emailVerified, .userAgent]

    private static func expectTable(
        of event: Event, disclosing disclosed: [Disclosure.Name]
    ) {
        #expect(
            Set(event.fact.requiredDisclosures)
                == Set(disclosed).subtracting(
                    optional.subtracting(event.fact.requiredDisclosures)), "\(event)")
    }

    @Test func `every command discloses what the table requires, and no other required disclosure`()
        throws
    {
        var seen: Set<Event.Name> = []
        for seed in UInt64(1)...32 {
            for step in try RandomLog(seed: seed, commands: 400, hasEveryType: true).steps {
                Self.expectTable(of: step.recorded.event, disclosing: step.disclosed)
                seen.insert(step.recorded.event.name)
            }
        }
        let rare: Set<Event.Name> = [
            .ledgerOpened, .keyRotated, .ledgerRestored, .passkeyRegistered,
            .signInThrottled, .accountNamed,
        ]
        #expect(seen == Set(Event.Name.allCases).subtracting(rare))
    }

    @Test func `a relink by support discloses what the table requires`() throws {
        var ledger = ModelLedger(policy: SequencerFixture.unlimitedPolicy)
        let caller = try ledger.signIn(subject("apple", "ada"))
        _ = try ledger.link(caller, .success(proof(subject("google", "ada-g"))), token: 1)
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

    @Test func `missing disclosures are reported by name, and without values by number`() throws {
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
