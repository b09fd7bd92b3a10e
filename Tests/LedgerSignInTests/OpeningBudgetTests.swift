import Ledger
import LedgerSignIn
import Testing

struct OpeningBudgetTests {
    private static let start = Timestamp(seconds: 1_790_000_000)

    @Test func `a network has its limit, which refills evenly`() {
        let budget = OpeningBudget(networkLimit: 4, tenantLimit: 100)
        for _ in 0..<4 { #expect(budget.take(for: "192.0.2.1", at: Self.start) == nil) }
        #expect(budget.take(for: "192.0.2.1", at: Self.start) == 900)
        #expect(budget.take(for: "192.0.2.2", at: Self.start) == nil)
        let later = Self.start.adding(seconds: 900)
        #expect(budget.take(for: "192.0.2.1", at: later) == nil)
        #expect(budget.take(for: "192.0.2.1", at: later) == 900)
    }

    @Test func `all networks share the limit of the tenant`() {
        let budget = OpeningBudget(networkLimit: 2, tenantLimit: 3)
        for number in 0..<3 { #expect(budget.take(for: "\(number)", at: Self.start) == nil) }
        #expect(budget.take(for: "3", at: Self.start) == 1200)
        // A refusal takes nothing from the network's limit.
        let later = Self.start.adding(seconds: 3600)
        for _ in 0..<2 { #expect(budget.take(for: "3", at: later) == nil) }
    }

    @Test func `an account that is not opened after all leaves both limits as they were`() {
        let budget = OpeningBudget(networkLimit: 2, tenantLimit: 3)
        for _ in 0..<9 {
            #expect(budget.take(for: "1", at: Self.start) == nil)
            budget.giveBack(to: "1")
        }
        for _ in 0..<2 { #expect(budget.take(for: "1", at: Self.start) == nil) }
        #expect(budget.take(for: "1", at: Self.start) == 1800)
        #expect(budget.take(for: "2", at: Self.start) == nil)
        #expect(budget.take(for: "3", at: Self.start) == 1200)
    }

    @Test func `after a clock was set back the wait is at most the window`() {
        let budget = OpeningBudget(networkLimit: 1, tenantLimit: 1)
        #expect(budget.take(for: "a", at: Self.start) == nil)
        let wait = budget.take(for: "a", at: Self.start.adding(seconds: -86_400))
        #expect(wait == 3600)
    }

    @Test func `many networks take bounded memory`() {
        let budget = OpeningBudget(networkLimit: 1, tenantLimit: 1_000_000)
        for number in 0..<100_001 { _ = budget.take(for: "\(number)", at: Self.start) }
        #expect(budget.networkCount <= 100_000)
    }
}
