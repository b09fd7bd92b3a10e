import Cryptography
import Ledger
import LedgerPostgres
import LedgerSignIn

/// Erases anonymous accounts after the days without use that their provider's settings give.
///
/// Several processes may each run one: the command checks under the lock what the search has found before.
struct RetentionWorker: Sendable {
    private static let pause = Duration.seconds(3600)
    private static let daySeconds: Int64 = 86_400

    /// The accounts of one provider of one tenant.
    private struct Rule {
        let tenant: TenantID
        let provider: ProviderName
        let days: Int64
    }

    private let rules: [Rule]
    private let unused: UnusedAccounts
    private let commands: any CommandQueue
    private let log: Log

    init(
        url: String, tenants: [TenantID: TenantConfiguration], commands: any CommandQueue, log: Log
    ) {
        rules = tenants.sorted { $0.key < $1.key }.flatMap { tenant, configuration in
            configuration.providers.values.compactMap { provider in
                guard case .anonymous(let settings) = provider.settings,
                    let days = settings.retentionDays
                else { return nil }
                return Rule(tenant: tenant, provider: provider.name, days: Int64(days))
            }
        }
        unused = UnusedAccounts(url: url)
        self.commands = commands
        self.log = log
    }

    /// Works once an hour until the task is cancelled.
    func run() async {
        while !rules.isEmpty, !Task.isCancelled {
            await work(at: .now)
            // A cancelled sleep ends the loop.
            try? await Task.sleep(for: Self.pause)
        }
        await unused.close()
    }

    /// Erases the accounts that are unused by this machine's clock and by the database's: an erasure has no way back.
    func work(at local: Timestamp) async {
        do {
            await eraseUnused(at: try await unused.earlier(of: local))
        } catch {
            log.write(.warning, "retention fault", ["detail": .text("\(error)")])
        }
    }

    /// Erases the accounts that are unused at a time, and logs their number by tenant.
    func eraseUnused(at now: Timestamp) async {
        for rule in rules {
            let tenant = LogValue.text(rule.tenant.description)
            do {
                let erased = try await erase(rule, at: now)
                guard erased > 0 else { continue }
                log.write(
                    .info, "anonymous accounts erased",
                    ["tenant": tenant, "count": .number(Int64(erased))])
            } catch {
                log.write(
                    .warning, "retention fault", ["tenant": tenant, "detail": .text("\(error)")])
            }
        }
    }

    /// Erases the unused accounts of a provider, and returns their number.
    private func erase(_ rule: Rule, at now: Timestamp) async throws -> Int {
        let since = now.adding(seconds: -rule.days * Self.daySeconds)
        var (erased, last) = (0, String?.some(""))
        while let after = last, !Task.isCancelled {
            let page = try await unused.page(
                of: rule.tenant, rule.provider, notUsedSince: since, after: after)
            last = page.last
            for account in page.accounts where !Task.isCancelled {
                let command = Command(
                    id: CommandID(at: now, random: SecureRandom.uint128()), tenant: rule.tenant,
                    origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
                    intent: .eraseAccount(
                        EraseAccount(
                            account: account, basis: .retention,
                            agreement: .unused(since: since), actor: .system)))
                do throws(LedgerFault) {
                    let result = try await commands.submit(command)
                    if case .success(.erased(_, isNew: true, _)) = result { erased += 1 }
                } catch .internalFailure {
                    // One damaged account does not keep the others.
                    log.write(
                        .warning, "retention fault",
                        [
                            "tenant": .text(rule.tenant.description),
                            "account": .text(account.description),
                        ])
                }
            }
        }
        return erased
    }
}
