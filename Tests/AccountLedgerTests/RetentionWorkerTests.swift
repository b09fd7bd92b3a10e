import Ledger
import LedgerEngine
import LedgerSignIn
import LedgerTestSupport
import Testing

@testable import account_ledger

/// A round of the retention of anonymous accounts.
@Suite struct RetentionWorkerTests {
    /// Answers the commands about one account as if its data were damaged.
    private struct DamagedAccount: CommandQueue {
        let queue: any CommandQueue
        let account: AccountID

        func submit(_ command: Command) async throws(LedgerFault) -> Result<Reply, Refusal> {
            if case .eraseAccount(let intent) = command.intent, intent.account == account {
                throw .internalFailure
            }
            return try await queue.submit(command)
        }
    }

    @Test(arguments: [1, nil])
    func `accounts without use are erased, also beside a damaged one`(days: Int?) async throws {
        try await ScratchDatabase.with { database in
            let policy = RandomCommands.policy(hasEveryType: true)
            try await SequencerFixture.with(database, policy: policy) { fixture in
                var accounts: [AccountID] = []
                for name in ["a", "b", "c"] {
                    accounts.append(try await fixture.signIn(subject("anonymous", name)).account)
                }
                let worker = RetentionWorker(
                    url: database.runtimeURL,
                    tenants: [.default: configuration(retentionDays: days)],
                    commands: DamagedAccount(queue: fixture.sequencer, account: accounts[0]),
                    log: Log(threshold: .error))
                let log = try await fixture.log()
                let first = try #require(log.first).recorded.recordedAt
                await worker.eraseUnused(at: first.adding(seconds: 86_400))
                #expect(try await erased(fixture) == [], "a day has passed for none of them")
                let last = try #require(log.last).recorded.recordedAt
                await worker.eraseUnused(at: last.adding(seconds: 86_401))
                #expect(try await erased(fixture) == (days == nil ? [] : Set(accounts[1...])))
            }
        }
    }

    @Test func `a machine whose clock is ahead erases nothing early`() async throws {
        try await ScratchDatabase.with { database in
            let policy = RandomCommands.policy(hasEveryType: true)
            try await SequencerFixture.with(database, policy: policy) { fixture in
                _ = try await fixture.signIn(subject("anonymous", "a"))
                let worker = RetentionWorker(
                    url: database.runtimeURL,
                    tenants: [.default: configuration(retentionDays: 1)],
                    commands: fixture.sequencer, log: Log(threshold: .error))
                let opened = try #require(try await fixture.log().last).recorded.recordedAt
                await worker.work(at: opened.adding(seconds: 400 * 86_400))
                #expect(try await erased(fixture) == [])
            }
        }
    }

    private func configuration(retentionDays days: Int?) -> TenantConfiguration {
        let settings = AnonymousSettings(
            budget: OpeningBudget(networkLimit: 1, tenantLimit: 1), retentionDays: days)
        return TenantConfiguration(
            providers: [
                ProviderConfiguration(
                    name: provider("anonymous"), settings: .anonymous(settings))
            ], policy: TenantPolicy(providers: [:]))
    }

    private func erased(_ fixture: SequencerFixture) async throws -> Set<AccountID> {
        Set(try await fixture.log().compactMap(\.recorded.event.erasedAccount))
    }
}
