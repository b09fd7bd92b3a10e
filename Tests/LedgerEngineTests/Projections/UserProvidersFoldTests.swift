import Ledger
import LedgerTestSupport
import Testing

@testable import LedgerEngine

/// The net effect of a page on `user_providers`, without a database.
@Suite struct UserProvidersFoldTests {
    private let account = AccountID(bits: 1)
    private let identity = IdentityID(bits: 2)

    @Test func `a link and unlink within a page leave nothing to write`() throws {
        var fold = UserProvidersFold(from: LogPosition(0))
        try fold.apply(linked(at: 1))
        try fold.apply(unlinked(at: 2))
        #expect(fold.steps.isEmpty)
    }

    @Test func `an unlink and a new link delete the old row and insert the new one`() throws {
        var fold = UserProvidersFold(from: LogPosition(0))
        try fold.apply(unlinked(at: 1))
        try fold.apply(linked(at: 2))
        let change = try #require(changes(of: fold).values.first)
        #expect(change.deletes)
        #expect(change.insert?.linkedPosition == LogPosition(2))
        try fold.apply(unlinked(at: 3))
        let last = try #require(changes(of: fold).values.first)
        #expect(last == UserProvidersFold.Change(deletes: true))
    }

    @Test func `the last e-mail of a page counts`() throws {
        var fold = UserProvidersFold(from: LogPosition(0))
        try fold.apply(signedIn(at: 1, email: "old@example.com"))
        try fold.apply(signedIn(at: 2, email: "new@example.com"))
        try fold.apply(signedIn(at: 3, email: nil))
        #expect(changes(of: fold).values.first?.email == Email("new@example.com", isVerified: nil))
    }

    @Test func `a change of an address applies after earlier links, and before later sign-ins`()
        throws
    {
        var fold = UserProvidersFold(from: LogPosition(0))
        try fold.apply(linked(at: 1))
        let fact = AddressChanged(
            account: account, survivor: nil, address: AddressID(bits: 5),
            former: AddressID(bits: 6), kind: .email, cause: .change)
        var disclosed = DisclosedValues()
        _ = disclosed.add(Disclosure(.email, "new@example.com"))
        try fold.apply(event(.addressChanged(fact), at: 2, disclosed: disclosed))
        try fold.apply(signedIn(at: 3, email: "last@example.com"))
        #expect(fold.steps.count == 3)
        #expect(
            fold.steps.dropFirst().first
                == .address(fact, Email("new@example.com", isVerified: true)))
        // Erased, the address is unknown, and so is that of a phone.
        var erased = UserProvidersFold(from: LogPosition(0))
        try erased.apply(event(.addressChanged(fact), at: 1))
        #expect(erased.steps.isEmpty)
    }

    @Test func `a second link, and a sign-in after the unlink, are faults`() throws {
        var fold = UserProvidersFold(from: LogPosition(0))
        try fold.apply(linked(at: 1))
        #expect(throws: LogDamage.self) { try fold.apply(linked(at: 2)) }
        var other = UserProvidersFold(from: LogPosition(0))
        try other.apply(unlinked(at: 1))
        #expect(throws: LogDamage.self) { try other.apply(unlinked(at: 2)) }
        #expect(throws: LogDamage.self) { try other.apply(signedIn(at: 3, email: "a@b.c")) }
    }

    private func changes(
        of fold: UserProvidersFold
    ) -> [UserProvidersFold.Key: UserProvidersFold.Change] {
        guard case .changes(let net) = fold.steps.last else { return [:] }
        return net.changes
    }

    private func linked(at position: Int64) -> DisclosedEvent {
        event(
            .providerLinked(
                ProviderLinked(
                    account: account, identity: identity, provider: provider("google"),
                    cause: .link)), at: position)
    }

    private func unlinked(at position: Int64) -> DisclosedEvent {
        event(
            .providerUnlinked(
                ProviderUnlinked(
                    account: account, identity: identity, provider: provider("google"))),
            at: position)
    }

    private func signedIn(at position: Int64, email: String?) -> DisclosedEvent {
        var disclosed = DisclosedValues()
        if let email { _ = disclosed.add(Disclosure(.email, email)) }
        return event(
            .signedIn(
                SignedIn(
                    account: account, authenticatedAt: Timestamp(seconds: 1), identity: identity,
                    methods: .federated, provider: provider("google"),
                    session: SessionID(bits: UInt128(position)))),
            at: position, disclosed: disclosed)
    }

    private func event(
        _ event: Event, at position: Int64, disclosed: DisclosedValues = DisclosedValues()
    ) -> DisclosedEvent {
        DisclosedEvent(
            recorded: RecordedEvent(
                tenant: .default, position: LogPosition(position), id: EventID(bits: 1),
                recordedAt: Timestamp(seconds: position), actor: .system,
                command: CommandID(bits: 1), request: nil, accounts: [], disclosureDigests: [],
                event: event), disclosed: disclosed)
    }
}
