import BlockingCalls
import CommandLine
import Cryptography
import DevelopmentIdentityProvider
import Foundation
import HTTP
import Ledger
import LedgerAPI
import LedgerAudit
import LedgerChannels
import LedgerEngine
import LedgerMessages
import LedgerPostgres
import LedgerSignIn
import Passwords

/// A serving process: the listeners, the API and the background workers.
struct Server: Sendable {
    /// The most client connections; fewer where the system allows fewer.
    private static let connectionsMax = 16_384
    private static let headerBytesMax = 8_192
    /// The most passwords that wait to be hashed; further requests are refused.
    private static let passwordsWaitingMax = 256
    /// The most of one client network's strangers, and of its devices known to the addresses.
    private static let passwordsWaitingMaxPerClient = 64
    /// The number of places that only known devices may take.
    private static let passwordsKeptForKnown = 64
    /// The most tenants whose damage is logged at the start: an attacker can invent any number.
    private static let alarmsMax = 100
    /// The most tenants whose rules are recorded at a time.
    private static let rulesAtOnceMax = 256
    /// The delay before a request is refused for lack of capacity: the same as its `Retry-After`.
    private static let refusalDelay = Duration.seconds(1)

    let configuration: ServeConfiguration
    let log: Log
    let keys: Keys
    private let api: Listener
    private let admin: Listener
    let accessTokens: AccessTokens
    private let liveKeys: LiveKeys
    let tenants: [TenantID: TenantConfiguration]
    private let identityProvider: DevelopmentIdentityProvider?
    private let faults = LastFault()
    let requestDigests: RequestDigests
    let codes: AddressCodes
    let credentials: PostgresCredentialStore
    let passwords: PasswordChecks
    /// The times of the last accepted restores, for which every server is stopped.
    let restores: [TenantID: Timestamp]
    /// The beginning of the addresses at which browsers reach the service; nil when it is not set.
    let publicURL: String?
    /// The identity provider of the staff; nil without a console.
    let staff: StaffSetup?
    let workers: Workers

    /// Checks the configuration against the database, and binds.
    ///
    /// - Throws: `Fault` with one line that explains why the start failed.
    init(_ configuration: ServeConfiguration, log: Log) async throws {
        self.configuration = configuration
        self.log = log
        let files = try ConfiguredFiles(configuration)
        let opened = try Self.openings(configuration)
        let keys = try opened.keys(from: configuration.keys, mode: configuration.mode)
        self.keys = keys
        restores = try SchemaCheck.withConnection(to: configuration.databaseURL) {
            try AllTenants.restores(on: $0)
        }
        if let directory = configuration.sealerDirectory {
            try await SealingSetup.check(directory, url: configuration.databaseURL)
        }
        let api = try Listener(
            configuration.listen, of: .listen, limits: Self.connectionLimits(configuration))
        admin = try Listener(configuration.adminListen, of: .adminListen)
        self.api = api
        let base = "http://\(api.address)"
        // The same for every process of a ledger, on any port.
        let issuer =
            try configuration.issuer
            ?? "account-ledger:" + (opened.issuingKey() ?? keys.token.keyID)
        accessTokens = AccessTokens(
            issuer: issuer, audience: configuration.audience, current: keys.token,
            former: keys.formerTokens, lifetimeSeconds: configuration.accessTokenSeconds)
        let secrets = keys.wrapping.secrets
        requestDigests = RequestDigests(
            current: secrets.currentID, keys: secrets.keys, upgradedAt: opened.digestsKeyedAt)
        let imitated =
            configuration.mode == .development
            ? try ImitatedProvider.all(
                keys: configuration.keys, base: configuration.issuer ?? base) : []
        let tenants =
            files.tenants
            ?? TenantSetup.development(
                imitated.filter { $0.name != DevelopmentIdentityProvider.staffName }, api: base,
                tenants: [.default] + opened.soundTenants,
                limits: configuration.limits)
        self.tenants = tenants
        identityProvider =
            configuration.mode == .development
            ? DevelopmentIdentityProvider(
                api: base, providers: imitated,
                tokenProviders: ImitatedTokenProvider.all(secrets),
                codes: AuthorizationCodes.all(secrets)) : nil
        staff = files.staff ?? identityProvider.map { StaffSetup($0) }
        let publicURL =
            configuration.messaging.publicURL
            ?? (configuration.mode == .development ? base : nil)
        self.publicURL = publicURL
        let settings: @Sendable (TenantID) -> MessageSettings = {
            tenants[$0]?.messages ?? MessageSettings()
        }
        let accountPage: @Sendable (TenantID) -> String? = {
            settings($0).accountPage(of: $0, publicURL: publicURL)
        }
        workers = Workers(
            configuration, engine: opened.engine, keys: keys, tenants: { tenants[$0] },
            accountPage: accountPage, faults: faults, log: log)
        codes = AddressCodes(
            current: secrets.currentID, keys: secrets.keys,
            store: PostgresChallengeStore(
                url: configuration.databaseURL, keyring: keys.wrapping,
                outbox: MessageOutbox(
                    keyring: keys.wrapping, settings: settings, accountPage: accountPage,
                    now: { .now }, random: { SecureRandom.uint128() }, dispatcher: workers.messages)
            ) {
                log.write(.error, "challenge fault", ["detail": .text($0)])
            },
            textsMax: { settings($0).smsPerHour },
            random: { SecureRandom.uint128() })
        credentials = PostgresCredentialStore(
            url: configuration.databaseURL, keyring: keys.wrapping
        ) { log.write(.error, "credential fault", ["detail": .text($0)]) }
        passwords = PasswordChecks(
            hasher: PasswordHasher(peppers: keys.peppers), pool: Self.passwordPool(),
            store: credentials, codes: codes, localParts: { tenants[$0]?.localParts ?? .ascii },
            failureTime: configuration.passwordFailureTime,
            onFault: { log.write(.error, "password can't be checked", ["detail": .text($0)]) })
        liveKeys = LiveKeys(
            configuration.keys, wrapping: keys.wrapping, tokens: accessTokens,
            digests: requestDigests, codes: codes, passwords: passwords, log: log)
    }

    /// Returns the threads that hash passwords: as many as there are processors, since each is busy for the whole
    /// time.
    private static func passwordPool() -> BlockingPool {
        BlockingPool(
            label: "account-ledger passwords",
            threads: ProcessInfo.processInfo.activeProcessorCount,
            waitingMax: passwordsWaitingMax, waitingMaxPerClient: passwordsWaitingMaxPerClient,
            keptForKnown: passwordsKeptForKnown)
    }

    /// Returns limits that allow many connections, of which as many are served as the queue admits.
    ///
    /// A connection is cheap, and a closed one costs its client the answer. So many are accepted, and
    /// requests beyond the queue's capacity are refused, at most once a second per connection.
    private static func connectionLimits(_ configuration: ServeConfiguration) -> HTTPServerLimits {
        var limits = HTTPServerLimits()
        limits.connectionsMax = min(connectionsMax, DescriptorLimit.raise())
        limits.requestsInFlightMax = configuration.queueLimit
        limits.refusalDelay = refusalDelay
        // Determines the memory per connection; our own tokens are smaller than 1 KiB.
        limits.headerBytesMax = headerBytesMax
        return limits
    }

    /// Serves until `untilAsked` returns, then stops gracefully.
    ///
    /// - Throws: `Fault` when the tenants can't be read or do not match the configuration.
    func run(untilAsked: () async -> Void) async throws {
        try await workers.run {
            let refused = try await openDefaultTenant()
            let commands = ServedTenants(
                queue: workers.sequencer, refused: Set(refused.compactMap { TenantID($0) }))
            try await recordRules(with: commands)
            answerRequests(with: commands, refusing: refused)
            // Cancelled at the end of the stop.
            async let _ = liveKeys.run()
            async let _ = RetentionWorker(
                url: configuration.databaseURL, tenants: tenants, commands: commands, log: log
            ).run()
            async let _ = RemovalWorker(
                url: configuration.databaseURL, commands: commands, log: log
            ).run()
            log.write(
                .info, "ready",
                [
                    "listen": .text(api.address), "admin": .text(admin.address),
                    "mode": .text(configuration.mode.rawValue), "version": .text(Version.text),
                ])
            await untilAsked()
            // The rest of the time is for the workers.
            await api.stop(grace: configuration.stopGrace * 8 / 10)
            await admin.stop(grace: .zero)
        }
    }

    private static func openings(_ configuration: ServeConfiguration) throws -> TenantOpenings {
        try TenantOpenings.read(
            url: configuration.databaseURL, macs: try configuration.keys.loadMACKeys())
    }

    /// Creates the tenant `default` if necessary, and checks that every configured tenant exists.
    ///
    /// - Returns: the names of tenants whose commands are refused, the configured ones first, after an
    ///   alarm for each.
    private func openDefaultTenant() async throws -> [String] {
        let before = try Self.openings(configuration)
        if !before.tenants.contains(.default) {
            let result = await TenantOpening.open(
                .default, mode: configuration.mode, keys: keys, on: workers.sequencer)
            guard case .success = result else {
                throw Fault("can't begin the ledger: \(faults.last ?? "unknown cause")")
            }
        }
        // Another process may have begun it at the same time, with other keys.
        let after = try Self.openings(configuration)
        let keys = try after.keys(from: configuration.keys, mode: configuration.mode)
        let existing = Set(after.tenants)
        if let missing = tenants.keys.sorted().first(where: { !existing.contains($0) }) {
            throw Fault(
                "\(Setting.providers.name) configures tenant \(missing), which does not exist:"
                    + " run \(Syntax.program) tenant create \(missing)")
        }
        let faults = after.refused(with: keys.wrapping.macs, from: configuration.keys)
        let configured = Set(tenants.keys.map(\.description)).intersection(faults.keys)
        let refused = configured.sorted() + Set(faults.keys).subtracting(configured).sorted()
        for tenant in refused.prefix(Self.alarmsMax) {
            log.write(
                .error, "tenant refused",
                ["tenant": .text(tenant), "detail": .text(faults[tenant] ?? "")])
        }
        if refused.count > Self.alarmsMax {
            log.write(.error, "tenants refused", ["count": .number(Int64(refused.count))])
        }
        return refused
    }

    /// Records the configured rules of tenants that have none; in development of all, so that a change of
    /// the configuration needs no command.
    ///
    /// Warns of providers with linked identities that the rules omit.
    private func recordRules(with commands: ServedTenants) async throws {
        let served = tenants.filter { !commands.refused.contains($0.key) }
            .sorted { $0.key < $1.key }
        // Together, so that a few transactions suffice for many tenants.
        let size = min(Self.rulesAtOnceMax, configuration.queueLimit)
        for start in stride(from: 0, to: served.count, by: size) {
            let chunk = served[start..<min(start + size, served.count)]
            let answers = await withTaskGroup { group in
                for (tenant, configured) in chunk {
                    group.addTask {
                        (tenant, await record(configured.policy, of: tenant, commands))
                    }
                }
                return await group.reduce(into: [TenantID: Sequencer.Answer]()) {
                    $0[$1.0] = $1.1
                }
            }
            for (tenant, configured) in chunk {
                guard let answer = answers[tenant] else { continue }
                try report(answer, to: configured.policy, of: tenant)
            }
        }
    }

    /// Submits the configured rules of a tenant.
    private func record(
        _ rules: TenantPolicy, of tenant: TenantID, _ commands: ServedTenants
    ) async -> Sequencer.Answer {
        let condition: SetRules.Condition =
            configuration.mode == .development ? .acceptsLockOuts : .noneRecorded
        let command = Command(
            id: CommandID(at: .now, random: SecureRandom.uint128()), tenant: tenant,
            origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
            intent: .setRules(SetRules(rules, condition: condition)))
        do throws(LedgerFault) {
            return .success(try await commands.submit(command))
        } catch {
            return .failure(error)
        }
    }

    /// Logs the difference between the recorded and the configured rules, if any.
    ///
    /// - Throws: `Fault` if the rules could not be recorded, unless the tenant's log is damaged, which is no
    ///   reason not to serve the others.
    private func report(
        _ answer: Sequencer.Answer, to configured: TenantPolicy, of tenant: TenantID
    ) throws(Fault) {
        switch answer {
        case .failure(.internalFailure), .failure(.tenantMoved): return
        case .failure:
            throw Fault(
                "can't record the rules of tenant \(tenant): \(faults.last ?? "unknown cause")")
        case .success(.success(.rulesRecorded(let rules, _, let omitted)))
        where rules.policy == configured:
            guard !omitted.isEmpty else { return }
            log.write(
                .warning, "rules omit used providers",
                [
                    "tenant": .text(tenant.description),
                    "providers": .text(omitted.map(\.description).joined(separator: ",")),
                    "detail": .text(
                        "sign-ins with them are refused: add them to the configuration"
                            + " and run \(Syntax.program) rules set"),
                ])
        case .success(.failure(.rulesTooLong)):
            throw Fault("the providers of tenant \(tenant) are too long for an entry of the log")
        case .success:
            log.write(
                .warning, "rules differ",
                [
                    "tenant": .text(tenant.description),
                    "detail": .text("commands are refused: run \(Syntax.program) rules check"),
                ])
        }
    }

    private func answerRequests(with commands: ServedTenants, refusing refused: [String]) {
        let requests = RequestMetrics()
        let counters = PasskeyMetrics()
        let probe = ReadinessProbe(
            url: configuration.databaseURL, refused: refused,
            rules: RulesComparison(tenants.mapValues(\.policy)), sequencer: workers.sequencer,
            projector: workers.projector, sealer: workers.sealer)
        let contract = API(
            services(commands, probe: probe, requests: requests, counters: counters),
            servesDocuments: configuration.servesDocuments)
        let (identityProvider, outboxes) = (identityProvider, workers.outboxes)
        api.handler.set(
            answer: { request in
                if !outboxes.isEmpty, request.path == DevelopmentOutbox.path {
                    return OutboxPage.answer(request, from: outboxes)
                }
                if let identityProvider,
                    request.path.hasPrefix(DevelopmentIdentityProvider.pathPrefix)
                {
                    return identityProvider.answer(request)
                }
                return await contract.handle(request)
            },
            reject: { contract.reject($0, $1) })
        let metrics = MetricsPage(
            requests: requests, codes: codes, counters: counters, workers: workers)
        let pages = AdminAPI(
            metrics: { await metrics.text() }, readiness: { await probe.check() })
        admin.handler.set(
            answer: { await pages.handle($0) }, reject: { contract.reject($0, $1) })
    }
}
