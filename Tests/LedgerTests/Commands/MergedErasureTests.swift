import Ledger
import LedgerTestSupport
import Testing

/// Erasures of merged accounts, decided by the pure model.
@Suite struct MergedErasureTests {
    private typealias Story = MergeTests.Story

    @Test func `an erasure covers every merged account`() throws {
        var story = try Story()
        _ = try story.merge()
        let erase = EraseAccount(
            account: story.other.account, basis: .dataSubjectRequest, actor: MergeTests.support)
        let reply = try story.model.execute(.eraseAccount(erase)).get()
        guard case .erased(_, isNew: true, let covering) = reply else {
            Issue.record("not erased: \(reply)")
            return
        }
        #expect(covering == [story.other.account, story.ada.account])
        for caller in [story.ada, story.other] {
            #expect(story.model.account(caller.account)?.erasedPosition != nil)
        }
    }

    @Test func `no account outside of the agreement is erased`() throws {
        var story = try Story()
        let other = story.other.account
        let alone = try story.erasurePlan(other)
        #expect(alone.covers == [other] && alone.survivor == other)
        let merge = try story.merge()
        let count = story.model.log.count
        #expect(try story.erase(other, .named) == .failure(.accountMerged(into: story.ada.account)))
        #expect(try story.erase(story.ada.account, .named) == .failure(.erasurePlanChanged))
        #expect(try story.erase(other, alone.agreed) == .failure(.erasurePlanChanged))
        let both = try story.erasurePlan(other)
        #expect(both.covers == [other, story.ada.account] && both.survivor == story.ada.account)
        // The digest covers the named account, too: the plan of one does not agree to the other's.
        #expect(try story.erase(story.ada.account, both.agreed) == .failure(.erasurePlanChanged))
        _ = try story.undo(merge).get()
        #expect(try story.erase(other, both.agreed) == .failure(.erasurePlanChanged))
        #expect(story.model.log.count == count + 1, "only the undoing was appended")

        let erased = try story.erase(other, .named).get()
        guard case .erased(let position, isNew: true, let covering) = erased else {
            throw ModelLedger.Unexpected(result: .success(erased))
        }
        #expect(covering == [other])
        #expect(story.model.account(story.ada.account)?.erasedPosition == nil)
        for agreement in [EraseAccount.Agreement.named, both.agreed] {
            #expect(
                try story.erase(other, agreement)
                    == .success(.erased(at: position, isNew: false, covering: [other])))
        }
        #expect(try story.erase(other, .preview) == .failure(.accountErased))
    }

    @Test func `the events of one erasure name the survivor`() throws {
        var story = try Story()
        _ = try story.merge()
        let plan = try story.erasurePlan(story.other.account)
        _ = try story.erase(story.other.account, plan.agreed).get()
        let facts = story.model.log.suffix(2).compactMap { recording -> AccountErased? in
            guard case .accountErased(let fact) = recording.recorded.event else { return nil }
            return fact
        }
        #expect(facts.map(\.account) == [story.other.account, story.ada.account])
        #expect(facts.allSatisfy { $0.version == 2 && $0.survivor == story.ada.account })
        #expect(Set(story.model.log.suffix(2).map(\.recorded.command)).count == 1)
    }

    @Test func `a hold that was set since the preview changes the plan`() throws {
        var story = try Story()
        let plan = try story.erasurePlan(story.other.account)
        let hold = SetLegalHold(
            account: story.other.account, newHold: HoldID(bits: 4), actor: MergeTests.support)
        _ = try story.model.execute(.setLegalHold(hold)).get()
        #expect(try story.erase(story.other.account, plan.agreed) == .failure(.erasurePlanChanged))
        #expect(try story.erase(story.other.account, .named) == .failure(.legalHold))
    }

    @Test func `a legal hold on either account prevents the erasure of both`() throws {
        var story = try Story()
        _ = try story.merge()
        let hold = SetLegalHold(
            account: story.other.account, newHold: HoldID(bits: 4), actor: MergeTests.support)
        _ = try story.model.execute(.setLegalHold(hold)).get()
        let erase = EraseAccount(
            account: story.ada.account, basis: .dataSubjectRequest, actor: MergeTests.support)
        #expect(try story.model.execute(.eraseAccount(erase)) == .failure(.legalHold))
    }
}

extension ErasurePlan {
    /// The agreement to the plan.
    fileprivate var agreed: EraseAccount.Agreement { .plan(sha256(bytes), sha256) }
}

extension MergeTests.Story {
    fileprivate mutating func erase(
        _ account: AccountID, _ agreement: EraseAccount.Agreement
    ) throws -> Result<Reply, Refusal> {
        try model.execute(
            .eraseAccount(
                EraseAccount(
                    account: account, basis: .operator, agreement: agreement,
                    actor: MergeTests.support)))
    }

    fileprivate mutating func erasurePlan(_ account: AccountID) throws -> ErasurePlan {
        let reply = try erase(account, .preview).get()
        guard case .erasurePlanned(let plan, _) = reply else {
            throw ModelLedger.Unexpected(result: .success(reply))
        }
        return plan
    }
}
