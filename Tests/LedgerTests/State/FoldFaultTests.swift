import Ledger
import LedgerTestSupport
import Testing

/// Faults of `apply`: each row is a log that no run of this program can have written.
@Suite struct FoldFaultTests {
    private let first = EnvelopeWriting.History()

    @Test func `an event at the wrong position is refused`() throws {
        var history = first
        let opened = history.next(.accountOpened(AccountOpened(account: history.account)))
        var state = LedgerState(tenant: .default)
        #expect(throws: FoldFault.position(expected: LogPosition(0))) {
            try state.apply(history.moved(opened, to: 1), leaf: leafHash([]))
        }
        try state.apply(opened, leaf: leafHash([1]))
        #expect(throws: FoldFault.position(expected: LogPosition(1))) {
            try state.apply(opened, leaf: leafHash([]))
        }
    }

    @Test func `a gap in an account's sequence is refused`() throws {
        var history = first
        var state = LedgerState(tenant: .default)
        try state.apply(
            history.next(.accountOpened(AccountOpened(account: history.account))),
            leaf: leafHash([1]))
        history.sequence = 2
        #expect(throws: FoldFault.sequence(history.account)) {
            try state.apply(history.next(history.link), leaf: leafHash([]))
        }
        history.sequence = 1
        history.position = 1
        history.previous = leafHash([9])
        #expect(throws: FoldFault.previous(history.account)) {
            try state.apply(history.next(history.link), leaf: leafHash([]))
        }
    }

    @Test func `the last link is never unlinked and an identity has one owner`() throws {
        var history = first
        var state = LedgerState(tenant: .default)
        for (index, event) in [
            Event.accountOpened(AccountOpened(account: history.account)), history.link,
        ].enumerated() {
            let leaf = leafHash([UInt8(index)])
            try state.apply(history.next(event), leaf: leaf)
            history.previous = leaf
        }
        #expect(throws: FoldFault.self) {
            var copy = history
            try state.apply(copy.next(history.link), leaf: leafHash([]))
        }
        #expect(throws: FoldFault.self) {
            let unlink = ProviderUnlinked(
                account: history.account, identity: history.identity, provider: provider("apple"))
            var copy = history
            try state.apply(copy.next(.providerUnlinked(unlink)), leaf: leafHash([]))
        }
    }

    /// A history with the state after it.
    private struct Folding {
        var history = EnvelopeWriting.History()
        var state = LedgerState(tenant: .default)

        mutating func apply(_ event: Event) throws {
            let leaf = leafHash([UInt8(history.position)])
            try state.apply(history.next(event), leaf: leaf)
            history.previous = leaf
        }

        func expectRefused(_ event: Event) {
            #expect(throws: FoldFault.self, "\(event)") {
                var copy = self
                try copy.apply(event)
            }
        }
    }

    @Test func `a disabled account is neither linked, signed in to nor disabled again`() throws {
        var folding = Folding()
        let account = folding.history.account
        let disable = Event.accountDisabled(AccountDisabled(account: account))
        let enable = Event.accountEnabled(AccountEnabled(account: account))
        try folding.apply(.accountOpened(AccountOpened(account: account)))
        folding.expectRefused(enable)
        try folding.apply(folding.history.link)
        try folding.apply(disable)
        let other = ProviderLinked(
            account: account, identity: IdentityID(bits: 77), provider: provider("google"),
            cause: .link)
        let signedIn = SignedIn(
            account: account, authenticatedAt: Timestamp(seconds: 1),
            identity: folding.history.identity, methods: .federated, provider: provider("apple"),
            session: SessionID(bits: 78))
        for event in [disable, .providerLinked(other), .signedIn(signedIn)] {
            folding.expectRefused(event)
        }
        try folding.apply(enable)
        folding.expectRefused(enable)
        try folding.apply(.signedIn(signedIn))
    }

    @Test func `an address is confirmed again as it is, and not once it was replaced`() throws {
        var folding = Folding()
        let (account, address) = (folding.history.account, AddressID(bits: 7))
        let former = AddressID(bits: 8)
        func confirmed(
            _ address: AddressID, _ kind: AddressKind = .phone,
            _ cause: AddressConfirmed.Cause = .proved
        ) -> Event {
            .addressConfirmed(
                AddressConfirmed(account: account, address: address, kind: kind, cause: cause))
        }
        try folding.apply(.accountOpened(AccountOpened(account: account)))
        for position: Int64 in [1, 2] {
            try folding.apply(confirmed(address))
            #expect(folding.state.addresses[address]?.position == LogPosition(position))
        }
        folding.expectRefused(confirmed(address, .email))
        folding.expectRefused(confirmed(address, .phone, .imported))
        let change = AddressChanged(
            account: account, survivor: nil, address: address, former: former, kind: .phone,
            cause: .change)
        try folding.apply(.addressChanged(change))
        let until = folding.state.addresses[address]?.keptUntil
        folding.expectRefused(confirmed(former))
        try folding.apply(confirmed(address))
        #expect(until != nil && folding.state.addresses[address]?.keptUntil == until)
    }

    @Test func `a time that goes back and another tenant's event are refused`() throws {
        var history = first
        var state = LedgerState(
            tenant: .default, lastRecordedAt: Timestamp(seconds: 2_000_000_000))
        let opened = history.next(.accountOpened(AccountOpened(account: history.account)))
        #expect(throws: FoldFault.timeWentBack) { try state.apply(opened, leaf: leafHash([])) }
        var other = LedgerState(tenant: tenant("acme"))
        #expect(throws: FoldFault.otherTenant) { try other.apply(opened, leaf: leafHash([])) }
    }
}

enum EnvelopeWriting {
    /// Writes one account's envelopes by hand.
    struct History {
        let account = AccountID(bits: 1)
        let identity = IdentityID(bits: 2)
        var position: Int64 = 0
        var sequence: Int64 = 0
        var previous: Digest?

        var link: Event {
            .providerLinked(
                ProviderLinked(
                    account: account, identity: identity, provider: provider("apple"),
                    cause: .signUp))
        }

        mutating func next(_ event: Event) -> RecordedEvent {
            defer {
                position += 1
                sequence += 1
            }
            return envelope(event, at: position)
        }

        func moved(_ recorded: RecordedEvent, to position: Int64) -> RecordedEvent {
            envelope(recorded.event, at: position)
        }

        private func envelope(_ event: Event, at position: Int64) -> RecordedEvent {
            RecordedEvent(
                tenant: .default, position: LogPosition(position), id: EventID(bits: 3),
                recordedAt: Timestamp(seconds: 1_790_000_000), actor: .system,
                command: CommandID(bits: 4), request: nil,
                accounts: [AccountReference(id: account, previous: previous, sequence: sequence)],
                disclosureDigests: [], event: event)
        }
    }
}
