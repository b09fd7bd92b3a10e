import Cryptography
import Ledger
import LedgerAPI
import LedgerAudit
import LedgerEngine
import LedgerPostgres
import LedgerSignIn

/// The services of a server's routes.
extension Server {
    /// The most open event streams.
    private static let streamsMax = 64

    private func audit() -> AuditServices {
        let log = log
        return AuditServices(
            keys: workers.access,
            accesses: PostgresAccessLog(url: configuration.databaseURL, gate: workers.access) {
                log.write(.error, "access log fault", ["detail": .text($0)])
            },
            events: EventReads(
                url: configuration.databaseURL, keyring: keys.wrapping, fence: workers.fence
            ) {
                log.write(.error, "event reader fault", ["detail": .text($0)])
            },
            proofs: ProofReads(url: configuration.databaseURL) {
                log.write(.error, "proof reader fault", ["detail": .text($0)])
            },
            histories: HistoryReads(
                url: configuration.databaseURL, keyring: keys.wrapping,
                onFault: { log.write(.error, "history fault", ["detail": .text($0)]) }),
            searches: SearchReads(
                url: configuration.databaseURL, keys: keys.searching,
                onFault: { log.write(.error, "search fault", ["detail": .text($0)]) }),
            conflicts: ConflictReads(url: configuration.databaseURL) {
                log.write(.error, "conflict reader fault", ["detail": .text($0)])
            },
            messages: MessageReads(url: configuration.databaseURL) {
                log.write(.error, "message reader fault", ["detail": .text($0)])
            },
            overviews: OverviewReads(url: configuration.databaseURL) {
                log.write(.error, "overview fault", ["detail": .text($0)])
            },
            holds: HoldReads(url: configuration.databaseURL) {
                log.write(.error, "hold reader fault", ["detail": .text($0)])
            },
            owners: OwnerReads(url: configuration.databaseURL, macs: keys.wrapping.macs) {
                log.write(.error, "owner reader fault", ["detail": .text($0)])
            },
            names: NameReads(url: configuration.databaseURL, macs: keys.wrapping.macs) {
                log.write(.error, "external id reader fault", ["detail": .text($0)])
            },
            bundles: BundleExports(url: configuration.databaseURL, macs: keys.wrapping.macs) {
                log.write(.error, "export fault", ["detail": .text($0)])
            },
            streams: streams())
    }

    private func activities() -> ActivityReads {
        let log = log
        return ActivityReads(url: configuration.databaseURL, macs: keys.wrapping.macs) {
            log.write(.error, "activity fault", ["detail": .text($0)])
        }
    }

    /// Makes the event streams, which read on their own connection so that no request waits for them.
    private func streams() -> EventStreams {
        let log = log
        return EventStreams(
            events: EventReads(
                url: configuration.databaseURL, keyring: keys.wrapping, fence: workers.fence
            ) {
                log.write(.error, "event stream fault", ["detail": .text($0)])
            },
            watch: workers.commits,
            // Each open stream is a request in flight.
            countMax: max(1, min(Self.streamsMax, configuration.queueLimit / 4)))
    }

    private func names() -> IdentityNameStore {
        let log = log
        return IdentityNameStore(url: configuration.databaseURL) {
            log.write(.error, "identity name fault", ["detail": .text($0)])
        }
    }

    func services(
        _ commands: ServedTenants, probe: ReadinessProbe, requests: RequestMetrics,
        counters: PasskeyMetrics
    ) -> APIServices {
        let log = log
        let passkeys = PasskeyChecks(store: credentials, key: keys.refresh, restores: restores) {
            tenant, account, isRefused in
            counters.countRefusal()
            if isRefused {
                log.write(
                    .warning, "passkey counter refused",
                    ["tenant": .text("\(tenant)"), "account": .text("\(account)")])
            } else {
                log.write(
                    .warning, "passkey counter accepted",
                    ["tenant": .text("\(tenant)"), "account": .text("\(account)")])
            }
        }
        return APIServices(
            commands: commands, accounts: workers.reads, names: names(), activities: activities(),
            audit: audit(),
            // Their existence was checked at the start.
            tenants: Tenants(url: configuration.databaseURL, known: Set(tenants.keys)),
            configurations: tenants,
            accessTokens: accessTokens, refreshTokens: RefreshTokens(key: keys.refresh),
            singleUseIDTokens: SingleUseIDTokens(key: keys.refresh),
            requestDigests: requestDigests, codes: codes, passwords: passwords,
            passkeys: passkeys,
            flows: BrowserFlows(key: keys.refresh, restores: restores),
            pages: PageSessions(key: keys.refresh),
            staff: staff?.services(key: keys.refresh, url: configuration.databaseURL, log: log),
            publicURL: publicURL,
            secondFactors: SecondFactors(
                store: credentials, codes: codes,
                passkeys: passkeys,
                tokens: SecondFactorTokens(key: keys.refresh, restores: restores)),
            mergePlans: MergePlanDigests(key: keys.refresh),
            now: { .now },
            random: { [identifiers = IdentifierBits()] in identifiers.next() },
            observer: RequestRecord(log: log, metrics: requests),
            trustedProxies: configuration.trustedProxies,
            allowedOrigins: configuration.allowedOrigins,
            readiness: { await probe.check() })
    }
}
