import Ledger
import LedgerTestSupport
import Testing

/// Erasures of single accounts, and the legal holds that prevent them.
struct AdministrationTests {
    private static let unknown = AccountID(bits: 1)

    private func hold(_ account: AccountID, _ number: UInt128) -> SetLegalHold {
        SetLegalHold(account: account, newHold: HoldID(bits: number), actor: .system)
    }

    private func lift(_ account: AccountID, _ number: UInt128) -> LiftLegalHold {
        LiftLegalHold(account: account, hold: HoldID(bits: number), actor: .system)
    }

    private func erase(
        _ account: AccountID, _ agreement: EraseAccount.Agreement = .named
    ) -> EraseAccount {
        EraseAccount(account: account, basis: .operator, agreement: agreement, actor: .system)
    }

    private func erased(_ account: AccountID) -> Event {
        .accountErased(AccountErased(account: account, basis: .operator, survivor: account))
    }

    @Test func `a hold is set once under its id and lifted once`() throws {
        var scenario = Scenario()
        let ada = try scenario.given.signIn(subject("apple", "ada")).account
        let id = HoldID(bits: 5)
        #expect(
            try scenario.when(hold(ada, 5))
                == then(.holdSet(id), .legalHoldSet(LegalHoldSet(account: ada, hold: id))))
        #expect(try scenario.when(hold(ada, 5)) == then(.holdSet(id)))
        #expect(
            try scenario.when(lift(ada, 5))
                == then(.holdLifted, .legalHoldLifted(LegalHoldLifted(account: ada, hold: id))))
        #expect(try scenario.when(lift(ada, 5)) == refused(.unknownHold))
        #expect(try scenario.when(hold(Self.unknown, 5)) == refused(.unknownAccount))
        #expect(try scenario.when(lift(Self.unknown, 5)) == refused(.unknownAccount))
    }

    @Test func `an account has a maximum number of holds`() throws {
        var scenario = Scenario()
        let ada = try scenario.given.signIn(subject("apple", "ada")).account
        for number in 0..<SetLegalHold.holdsMax {
            _ = try scenario.when(hold(ada, UInt128(number))).result.get()
        }
        #expect(try scenario.when(hold(ada, 99)) == refused(.tooManyHolds))
    }

    @Test func `an account is erased once, and not while it is held`() throws {
        var scenario = Scenario()
        let ada = try scenario.given.signIn(subject("apple", "ada")).account
        _ = try scenario.when(hold(ada, 5))
        #expect(try scenario.when(erase(ada)) == refused(.legalHold))
        _ = try scenario.when(lift(ada, 5))
        let position = LogPosition(Int64(scenario.given.events.count))
        #expect(
            try scenario.when(erase(ada))
                == then(.erased(at: position, isNew: true, covering: [ada]), erased(ada)))
        #expect(
            try scenario.when(erase(ada))
                == then(.erased(at: position, isNew: false, covering: [ada])))
        #expect(try scenario.when(hold(ada, 6)) == refused(.accountErased))
        #expect(try scenario.when(lift(ada, 5)) == refused(.accountErased))
        #expect(try scenario.when(erase(Self.unknown)) == refused(.unknownAccount))
    }

    @Test func `an erasure is executed as previewed or not at all`() throws {
        var scenario = Scenario()
        let ada = try scenario.given.signIn(subject("apple", "ada")).account
        let preview = EraseAccount.Preview(account: ada, actor: .system)
        let shown = try #require(
            EraseAccount.Preview.success(in: try scenario.when(preview).result.get()))
        #expect(shown.plan.covers == [ada])
        #expect(shown.losses.linkedIdentities == 1)
        #expect(
            try scenario.when(erase(ada, .plan(.zero, sha256))) == refused(.erasurePlanChanged))
        let agreed = sha256(shown.plan.bytes)
        #expect(
            try scenario.when(erase(ada, .plan(agreed, sha256))).events == [erased(ada)])
        #expect(try scenario.when(preview) == refused(.accountErased))
    }
}
