import BlockingCalls
import Cryptography
import HTTP
import Ledger
import LedgerAPI
import LedgerMessages
import LedgerSignIn
import LedgerTestSupport
import OpenID
import Passwords
import Synchronization
import Testing

/// The whole contract in one process: the real routes on the real model, stored in memory.
struct TestService {
    /// Settings that a test may change before the service starts.
    struct Options {
        /// The key of plan digests.
        var planKey = SymmetricKey.generate()
        var tenants: [TenantID] = [.default]
        var messages = InMemoryMessages()
        /// The waits before answers to wrong passwords.
        var pauses = Pauses()
        /// The refusals of counters of passkeys.
        var counterFaults = CounterFaults()
        var nonce: IDTokenPolicy.NonceMode = .raw
        var nonceRequired = false
        /// The values of `amr` that stand for a second factor, by provider.
        var secondFactorMethods: [String: Set<String>] = [:]
        var displayName: String?
        var severalPerProvider = false
        /// Replaces the limit of the contract.
        var linkAttemptsMax: Int?
        var singleUseIDTokens: [TenantID] = []
        var eraseNeedsTwo = false
        var supportNeedsTwo = false
        var confirmLater = false
        /// The key of the digests of spent ID tokens.
        var spendingKey = SymmetricKey.generate()
        /// The keys of the digests of requests; none as in a release that stored plain digests.
        var digestKeys = ["first": SymmetricKey.generate()]
        /// The name of the one in use.
        var digestKey = "first"
        /// The time of the upgrade from a release with plain digests.
        var upgradedAt = Timestamp(seconds: 0)
        var providers: [TestIdentityProvider]?
        /// The anonymous accounts that may be opened; nil for a tenant without any.
        var anonymous: OpeningBudget?
        /// The service that decides which of them are opened; nil for any.
        var attestation: AttestationHook?
        /// The kinds of addresses that codes are sent to.
        var codes: [AddressKind] = []
        var smsCountries: Set<String> = ["DE"]
        var smsPerHour = MessageSettings.smsPerHourDefault
        /// The rule for passwords; nil for a tenant without any.
        var passwords: PasswordRule?
        var noticesNewDevices = true
        /// The settings of passkeys; nil for a tenant without any.
        var passkeys: PasskeySettings?
        /// Those of a second provider, `again`.
        var morePasskeys: PasskeySettings?
        /// The passwords that may be hashed at a time or wait.
        var passwordPool = BlockingPool(label: "passwords", threads: 1, waitingMax: 99)
        var proxies = ""
        var origins = ""
        var isReady = true
        var servesDocuments = true
        var hasConsole = true
        /// Replaces the ledger's own.
        var events: (any EventReader)?
        /// Replaces the ledger's own.
        var names: (any NameReader)?
        /// The systems whose external ids stand in access tokens.
        var tokenSources: [NameSource] = []
        var localParts = EmailLocalParts.ascii
    }

    let clock: TestClock
    let apple = TestIdentityProvider("apple")
    let google = TestIdentityProvider("google")
    let observer = RecordingObserver()
    let ledger: InMemoryLedger
    let audit: TestAudit
    let challenges: InMemoryChallenges
    let staff: TestStaff
    /// The names of passkeys, which another process shares.
    let names: InMemoryIdentityNames
    let services: APIServices
    let api: API
    let accessTokens: AccessTokens
    let refreshTokens: RefreshTokens
    let signingKey: TokenSigningKey
    /// The server of tests over sockets; nil for calls.
    let socket: SocketTransport?
    private let options: Options
    private let configured: Configurations

    /// Starts a service on an empty ledger; `change` adjusts the defaults.
    init(_ change: (inout Options) -> Void = { _ in }) throws {
        var options = Options()
        change(&options)
        let clock = TestClock()
        let configured = Configurations()
        let challenges = InMemoryChallenges()
        try self.init(
            options, clock: clock, configured: configured, challenges: challenges,
            ledger: InMemoryLedger(
                tenants: options.tenants, policy: { configured[$0]?.policy },
                challenges: challenges, now: { clock.now }),
            signingKey: .generate(), refreshTokens: RefreshTokens(key: .generate()))
    }

    /// Returns another process, or a restarted one: the same ledger, keys and clock, with other
    /// providers.
    func restarted(
        providers: [TestIdentityProvider]? = nil, _ change: (inout Options) -> Void = { _ in }
    ) throws -> TestService {
        var options = options
        change(&options)
        options.providers = providers ?? options.providers
        return try TestService(
            options, clock: clock, configured: configured, challenges: challenges, ledger: ledger,
            signingKey: signingKey, refreshTokens: refreshTokens)
    }

    private init(
        _ options: Options, clock: TestClock, configured: Configurations,
        challenges: InMemoryChallenges, ledger: InMemoryLedger, signingKey: TokenSigningKey,
        refreshTokens: RefreshTokens
    ) throws {
        self.options = options
        self.clock = clock
        self.configured = configured
        self.ledger = ledger
        self.challenges = challenges
        names = InMemoryIdentityNames(ledger)
        staff = TestStaff(key: options.spendingKey, clock: clock)
        var audit = try TestAudit(
            ledger, events: options.events, names: options.names, clock: clock)
        audit.messages = options.messages
        self.audit = audit
        self.signingKey = signingKey
        self.refreshTokens = refreshTokens
        accessTokens = AccessTokens(
            issuer: "https://ledger.example", audience: "app", current: signingKey)
        let anonymous = try options.anonymous.map {
            ProviderConfiguration(
                name: try #require(ProviderName("anonymous")),
                settings: .anonymous(
                    AnonymousSettings(budget: $0, attestation: options.attestation)))
        }
        let passwords = try options.passwords.map {
            ProviderConfiguration(
                name: try #require(ProviderName("password")),
                settings: .password(PasswordSettings(rule: $0)),
                noticesNewDevices: options.noticesNewDevices)
        }
        let passkeyProviders = try [("passkey", options.passkeys), ("again", options.morePasskeys)]
            .compactMap { name, settings in
                try settings.map {
                    ProviderConfiguration(
                        name: try #require(ProviderName(name)), settings: .passkey($0))
                }
            }
        let providers =
            try (options.providers ?? [apple, google]).map {
                try $0.configuration(
                    displayName: options.displayName, nonce: options.nonce,
                    nonceRequired: options.nonceRequired,
                    secondFactorMethods: options.secondFactorMethods[$0.name] ?? [])
            } + [anonymous].compactMap(\.self)
            + [passwords].compactMap(\.self) + passkeyProviders
            + options.codes.map { kind in
                ProviderConfiguration(
                    name: try #require(ProviderName(kind.rawValue)),
                    settings: .code(CodeSettings(kind: kind)),
                    noticesNewDevices: options.noticesNewDevices)
            }
        let configurations = Dictionary(
            uniqueKeysWithValues: options.tenants.map { tenant in
                var policy = TenantPolicy(
                    providers: [], severalPerProvider: options.severalPerProvider)
                if let limit = options.linkAttemptsMax {
                    policy.linkBudget = Budget(limit: limit, windowSeconds: 3600)
                }
                policy.eraseNeedsTwo = options.eraseNeedsTwo
                policy.supportNeedsTwo = options.supportNeedsTwo
                policy.confirmLater = options.confirmLater
                policy.singleUseIDTokens = options.singleUseIDTokens.contains(tenant)
                return (
                    tenant,
                    TenantConfiguration(
                        providers: providers, policy: policy,
                        messages: MessageSettings(
                            smsCountries: SMSCountries(options.smsCountries),
                            smsPerHour: options.smsPerHour),
                        localParts: options.localParts,
                        returnAddresses: ReturnAddresses(loopbackPath: "/callback"),
                        tokenSources: options.tokenSources)
                )
            })
        configured.replace(with: configurations)
        let isReady = options.isReady
        let codes = AddressCodes(
            current: options.digestKey, keys: options.digestKeys, store: challenges,
            textsMax: { configured[$0]?.messages.smsPerHour ?? 0 },
            random: { SecureRandom.uint128() })
        let passkeys = PasskeyChecks(
            store: ledger, key: options.spendingKey,
            onCounterFault: { [faults = options.counterFaults] in
                faults.add($0, $1, isRefused: $2)
            })
        services = APIServices(
            commands: ledger, accounts: ledger, names: names,
            activities: InMemoryActivity(ledger),
            audit: audit.services, tenants: ledger,
            configurations: configurations, accessTokens: accessTokens,
            refreshTokens: refreshTokens,
            singleUseIDTokens: SingleUseIDTokens(key: options.spendingKey),
            requestDigests: RequestDigests(
                current: options.digestKey, keys: options.digestKeys,
                upgradedAt: options.upgradedAt),
            codes: codes,
            passwords: PasswordChecks(
                hasher: PasswordHasher(
                    parameters: try Argon2Parameters(memoryKiB: 8, iterations: 1, lanes: 1)),
                pool: options.passwordPool,
                store: ledger, codes: codes,
                localParts: { configured[$0]?.localParts ?? .ascii },
                failureTime: .milliseconds(500),
                pause: { [pauses = options.pauses] in pauses.add($0) }),
            passkeys: passkeys,
            flows: BrowserFlows(key: options.spendingKey),
            pages: PageSessions(key: options.spendingKey),
            staff: options.hasConsole ? staff.services : nil,
            publicURL: "https://ledger.example",
            secondFactors: SecondFactors(
                store: ledger, codes: codes,
                passkeys: passkeys,
                tokens: SecondFactorTokens(key: options.spendingKey)),
            mergePlans: MergePlanDigests(key: options.planKey),
            now: { clock.now },
            random: { SecureRandom.uint128() }, observer: observer,
            trustedProxies: try #require(TrustedProxies(options.proxies)),
            allowedOrigins: try #require(AllowedOrigins(options.origins)),
            readiness: {
                Readiness(checks: [.init("database", isReady: isReady, detail: "away")])
            })
        api = API(services, servesDocuments: options.servesDocuments)
        socket = Transport.current == .socket ? try SocketTransport(api) : nil
    }

    /// Sends a request; a body is declared as JSON unless the test sets a type.
    func send(
        _ method: String, _ target: String, _ body: String? = nil, token: String? = nil,
        headers: [(name: String, value: String)] = [], isTyped: Bool = false
    ) async throws -> Answer {
        Answer(
            try await respond(
                method, target, body, token: token, headers: headers, isTyped: isTyped))
    }

    /// Sends a request and returns the server's response.
    func respond(
        _ method: String, _ target: String, _ body: String? = nil, token: String? = nil,
        headers: [(name: String, value: String)] = [], isTyped: Bool = false
    ) async throws -> HTTPResponse {
        var fields = headers
        if body != nil, !isTyped { fields.append(("Content-Type", "application/json")) }
        if let token { fields.append(("Authorization", "Bearer \(token)")) }
        let bytes = body.map { Array($0.utf8) }
        let request = try #require(
            HTTPRequest(
                method: method, target: target, headers: HTTPHeaders(fields), body: bytes ?? []))
        let response =
            if let socket {
                try await socket.send(method, target, headers: fields, body: bytes)
            } else {
                await api.handle(request)
            }
        // Whatever a test asks for: the documents describe every response, but those to the server's own pages.
        // The server sends no body to HEAD.
        let isOfPage =
            target.hasPrefix("/account") || target.hasPrefix("/assets/")
            || target.contains("/console")
            || headers.contains { ["Cookie", "Ledger-CSRF"].contains($0.name) }
        if !isOfPage, socket == nil || method != "HEAD" {
            for problem in DescribedAPI.problems(with: response, to: request) {
                Issue.record("\(problem)")
            }
        }
        return response
    }
}

/// The rules of the ledger.
final class Configurations: Sendable {
    private let values = Mutex<[TenantID: TenantConfiguration]>([:])

    subscript(_ tenant: TenantID) -> TenantConfiguration? {
        values.withLock { $0[tenant] }
    }

    func replace(with configurations: [TenantID: TenantConfiguration]) {
        values.withLock { $0 = configurations }
    }
}

/// Records the requests that it observes.
final class RecordingObserver: RequestObserver {
    private let heard = Mutex<[RequestObservation]>([])

    var observations: [RequestObservation] { heard.withLock { $0 } }

    func observed(_ request: RequestObservation) {
        heard.withLock { $0.append(request) }
    }
}
