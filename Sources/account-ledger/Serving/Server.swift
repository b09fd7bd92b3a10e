import Cryptography
import HTTP
import Ledger
import LedgerAPI
import LedgerPostgres

/// A process that serves: listeners, the workers behind them, and what is between.
struct Server: Sendable {
    /// The most connections of clients; fewer where the system allows fewer.
    private static let connectionsMax = 16_384
    private static let headerBytesMax = 8_192
    /// The most open streams of events.
    private static let streamsMax = 64
    /// How long a request waits for the answer that there is no room: what its `Retry-After` says.
    private static let refusalDelay = Duration.seconds(1)

    private let configuration: ServeConfiguration
    private let log: Log
    private let keys: Keys
    private let api: Listener
    private let admin: Listener
    private let accessTokens: AccessTokens
    private let liveKeys: LiveKeys
    private let tenants: [TenantID: TenantConfiguration]
    private let identityProvider: DevelopmentIdentityProvider?
    private let faults = FaultNote()
    private let workers: Workers

    /// Checks that everything fits together, and binds.
    ///
    /// - Throws: `Fault` with the one line that ends the start.
    init(_ configuration: ServeConfiguration, log: Log) async throws {
        self.configuration = configuration
        self.log = log
        let given = try configuration.providersPath.map { path throws(Fault) in
            try TenantSetup.read(path: path, limits: configuration.limits)
        }
        let opened = try OpenedTenants.read(url: configuration.databaseURL)
        let keys = try opened.keys(from: configuration.keys, mode: configuration.mode)
        self.keys = keys
        if let directory = configuration.sealerDirectory {
            try await SealingSetup.check(directory, url: configuration.databaseURL)
        }
        let api = try Listener(
            configuration.listen, of: .listen, limits: Self.crowdLimits(configuration))
        admin = try Listener(configuration.adminListen, of: .adminListen)
        self.api = api
        let base = "http://\(api.address)"
        // The same for every process of one ledger, whatever port each has.
        let issuer =
            configuration.issuer
            ?? "account-ledger:" + (opened.facts[.default]?.tokenKey ?? keys.token.keyID)
        accessTokens = AccessTokens(
            issuer: issuer, audience: configuration.audience, current: keys.token,
            former: keys.formerTokens, lifetimeSeconds: configuration.accessTokenSeconds)
        liveKeys = LiveKeys(
            configuration.keys, wrapping: keys.wrapping, tokens: accessTokens, log: log)
        let played =
            configuration.mode == .development
            ? try PlayedProvider.all(
                keys: configuration.keys, base: configuration.issuer ?? base) : []
        let tenants =
            given
            ?? TenantSetup.development(
                played, api: base, tenants: [.default] + opened.facts.keys,
                limits: configuration.limits)
        self.tenants = tenants
        identityProvider =
            configuration.mode == .development
            ? DevelopmentIdentityProvider(api: base, providers: played) : nil
        workers = Workers(
            configuration, keys: keys, policy: { tenants[$0]?.policy }, faults: faults, log: log)
    }

    /// Room for a crowd of connections, of which so many are served at a time as may wait.
    ///
    /// A connection costs little, and one that is cut costs its client an answer. So there may be many,
    /// and those for whom the queue has no room are told so, each at most once a second.
    private static func crowdLimits(_ configuration: ServeConfiguration) -> HTTPServerLimits {
        var limits = HTTPServerLimits()
        limits.connectionsMax = min(connectionsMax, DescriptorLimit.raise())
        limits.requestsInFlightMax = configuration.queueLimit
        limits.refusalDelay = refusalDelay
        // What each connection's memory is made of; our own tokens have less than 1 KiB.
        limits.headerBytesMax = headerBytesMax
        return limits
    }

    /// Serves until `untilAsked` comes back, then stops gracefully.
    ///
    /// - Throws: `Fault` when the tenants can't be had or don't fit.
    func run(untilAsked: () async -> Void) async throws {
        try await workers.run {
            try await openDefaultTenant()
            answerRequests()
            // Cancelled when the stop is done.
            async let _ = liveKeys.run()
            log.write(
                .info, "ready",
                [
                    "listen": .text(api.address), "admin": .text(admin.address),
                    "mode": .text(configuration.mode.rawValue), "version": .text(Version.text),
                ])
            await untilAsked()
            // What is left of the time is for the workers.
            await api.stop(grace: configuration.stopGrace * 8 / 10)
            await admin.stop(grace: .zero)
        }
    }

    /// Begins the log of `default` where there is none, and checks that no configured tenant is missing.
    private func openDefaultTenant() async throws {
        let before = try OpenedTenants.read(url: configuration.databaseURL)
        if before.facts[.default] == nil {
            let result = await TenantOpening.open(
                .default, mode: configuration.mode, keys: keys, on: workers.sequencer)
            guard case .success = result else {
                throw Fault("the ledger can't be begun: \(faults.last ?? "no reason known")")
            }
        }
        // Another process may have begun it at the same moment, with other keys.
        let after = try OpenedTenants.read(url: configuration.databaseURL)
        _ = try after.keys(from: configuration.keys, mode: configuration.mode)
        if let missing = tenants.keys.sorted().first(where: { after.facts[$0] == nil }) {
            throw Fault(
                "\(Setting.providers.name) has the tenant \(missing), which does not exist:"
                    + " run \(Syntax.program) tenant create \(missing)")
        }
    }

    private func answerRequests() {
        let requests = RequestMetrics()
        let probe = ReadinessProbe(
            url: configuration.databaseURL, sequencer: workers.sequencer,
            projector: workers.projector, sealer: workers.sealer)
        let contract = API(services(probe: probe, requests: requests))
        let identityProvider = identityProvider
        api.handler.set(
            answer: { request in
                if let identityProvider,
                    request.path.hasPrefix(DevelopmentIdentityProvider.pathPrefix)
                {
                    return identityProvider.answer(request)
                }
                return await contract.handle(request)
            },
            reject: { contract.reject($0, $1) })
        let metrics = MetricsPage(requests: requests, workers: workers)
        let pages = AdminAPI(
            metrics: { await metrics.text() }, readiness: { await probe.check() })
        admin.handler.set(
            answer: { await pages.handle($0) }, reject: { contract.reject($0, $1) })
    }

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
            streams: streams())
    }

    /// Streams read on a connection of their own, so that nobody waits behind them.
    private func streams() -> EventStreams {
        let log = log
        return EventStreams(
            events: EventReads(
                url: configuration.databaseURL, keyring: keys.wrapping, fence: workers.fence
            ) {
                log.write(.error, "event stream fault", ["detail": .text($0)])
            },
            watch: workers.commits,
            // Each is a request in flight for as long as it is open.
            countMax: max(1, min(Self.streamsMax, configuration.queueLimit / 4)))
    }

    private func services(probe: ReadinessProbe, requests: RequestMetrics) -> APIServices {
        APIServices(
            commands: workers.sequencer, accounts: workers.reads, audit: audit(),
            // Those were looked for when the process started.
            tenants: Tenants(url: configuration.databaseURL, known: Set(tenants.keys)),
            configurations: tenants,
            accessTokens: accessTokens, refreshTokens: RefreshTokens(key: keys.refresh),
            singleUseIDTokens: SingleUseIDTokens(key: keys.refresh),
            mergePlans: MergePlanDigests(key: keys.refresh),
            now: { .now },
            random: { [identifiers = IdentifierBits()] in identifiers.next() },
            observer: RequestRecord(log: log, metrics: requests),
            trustedProxies: configuration.trustedProxies,
            allowedOrigins: configuration.allowedOrigins,
            readiness: { await probe.check() })
    }
}
