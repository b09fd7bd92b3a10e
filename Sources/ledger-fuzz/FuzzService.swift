import BlockingCalls
import Cryptography
import DevelopmentIdentityProvider
import HTTP
import Ledger
import LedgerAPI
import LedgerSignIn
import LedgerTestSupport
import OpenID
import Passwords
import Synchronization
import TransparencyLog

/// The HTTP contract on an in-memory ledger, with fixed keys, so that an input has the same meaning in
/// every run.
final class FuzzService: Sendable {
    static let now = Timestamp(seconds: 1_750_000_000)

    let provider: ImitatedProvider
    let tokenKey: TokenSigningKey
    let accessTokens: AccessTokens
    let refreshTokens: RefreshTokens
    private let mergePlans: MergePlanDigests
    private let singleUseIDTokens: SingleUseIDTokens
    let providerKeys: KeySet
    let policy: IDTokenPolicy
    let idTokens: [String]
    let configuration: TenantConfiguration
    let apiKey: StoredAPIKey

    init() throws {
        guard let providerKey = RSASigningKey(exported: Array(ExampleKeys.provider.utf8)),
            let tokenKey = TokenSigningKey(exported: Array(ExampleKeys.token.utf8)),
            let refreshKey = SymmetricKey(bytes: Array(0..<UInt8(SymmetricKey.byteCount))),
            let google = ProviderName("google"), let email = ProviderName("email"),
            let password = ProviderName("password"), let rule = PasswordRule(lengthMin: 8)
        else { throw Finding("the example keys can't be read") }
        guard let key = APIKey(ExampleKeys.apiKey), let keyDigest = key.secretDigest else {
            throw Finding("the example API key can't be read")
        }
        apiKey = StoredAPIKey(
            id: key.id, role: .admin, secretDigest: keyDigest, label: "example",
            createdAt: Self.now, expiresAt: nil, revokedAt: nil)
        let provider = ImitatedProvider(
            name: "google", nonce: .raw, issuer: "https://google.example", key: providerKey)
        self.provider = provider
        self.tokenKey = tokenKey
        accessTokens = AccessTokens(
            issuer: "https://ledger.example", audience: "app", current: tokenKey)
        refreshTokens = RefreshTokens(key: refreshKey)
        mergePlans = MergePlanDigests(key: refreshKey)
        singleUseIDTokens = SingleUseIDTokens(key: refreshKey)
        providerKeys = KeySet([providerKey.verificationKey, tokenKey.verificationKey])
        policy = IDTokenPolicy(
            issuers: [provider.issuer], audiences: ["app"], algorithms: [.rs256, .es256],
            nonce: .raw)
        let document = Array("{\"keys\":[\(providerKey.publicJWK),\(tokenKey.publicJWK)]}".utf8)
        configuration = TenantConfiguration(
            providers: [
                ProviderConfiguration(
                    name: google,
                    settings: .oidc(
                        OIDCSettings(
                            check: policy,
                            keys: KeySetCache(
                                url: "https://google.example/keys",
                                fetch: { _ in FetchedKeySet(body: document, maxAgeSeconds: nil) })))
                ),
                ProviderConfiguration(
                    name: email, settings: .code(CodeSettings(kind: .email))),
                ProviderConfiguration(
                    name: password, settings: .password(PasswordSettings(rule: rule))),
            ], policy: TenantPolicy(providers: []), localParts: .any)
        idTokens = ["subject-1", "subject-2"].map { subject in
            provider.sign(
                provider.claims(
                    of: subject, for: "app", nonce: nil, email: nil, at: Self.now.seconds))
        }
    }

    /// The public keys for ID tokens, as published by the provider.
    var keySetDocument: String {
        "{\"keys\":[\(provider.key.publicJWK),\(tokenKey.publicJWK)]}"
    }

    /// Returns the claims of a valid ID token as JSON.
    func claims(
        subject: String, nonce: String? = nil, email: String? = nil, more: [String: String] = [:]
    ) -> String {
        let claims = provider.claims(
            of: subject, for: "app", nonce: nonce, email: email, at: Self.now.seconds)
        return String(decoding: ImitatedProvider.json(claims.merging(more) { $1 }), as: UTF8.self)
    }

    /// Creates a contract on an empty ledger.
    func api(observer: any RequestObserver = NoObserver()) throws -> API {
        let policy = configuration.policy
        let ledger = InMemoryLedger(policy: { _ in policy }, now: { Self.now })
        guard let proxies = TrustedProxies("127.0.0.0/8"),
            let origins = AllowedOrigins("https://app.example")
        else { throw Finding("the settings can't be read") }
        let access = InMemoryAccess(now: { Self.now })
        access.add(apiKey)
        guard let name = NoteKeyName("ledger.example/default"),
            let key = Ed25519PrivateKey(seed: Array(0..<32))
        else { throw Finding("the example log key can't be read") }
        let proofs = InMemoryProofs(ledger, signer: NoteSigner(name: name, privateKey: key))
        proofs.seal(at: Self.now)
        let codes = AddressCodes(
            current: "key", keys: ["key": SymmetricKey.generate()], store: InMemoryChallenges(),
            textsMax: { _ in 1_000 }, random: { SecureRandom.uint128() })
        let events = InMemoryEvents(ledger)
        let audit = AuditServices(
            keys: access, accesses: access, events: events, proofs: proofs,
            histories: ledger, searches: InMemorySearch(ledger),
            conflicts: InMemoryConflicts(ledger),
            messages: InMemoryMessages(), overviews: InMemoryOverview(ledger),
            holds: InMemoryHolds(ledger), owners: InMemoryOwners(ledger),
            names: InMemoryNames(ledger),
            bundles: InMemoryBundles(ledger, proofs: proofs),
            streams: EventStreams(events: events, watch: events, countMax: 64))
        return API(
            APIServices(
                commands: ledger, accounts: ledger, names: InMemoryIdentityNames(ledger),
                activities: InMemoryActivity(ledger),
                audit: audit, tenants: ledger,
                configurations: [.default: configuration], accessTokens: accessTokens,
                refreshTokens: refreshTokens, singleUseIDTokens: singleUseIDTokens,
                requestDigests: RequestDigests(current: "", keys: [:], upgradedAt: Self.now),
                codes: codes,
                passwords: PasswordChecks(
                    hasher: PasswordHasher(),
                    pool: BlockingPool(label: "passwords", threads: 1, waitingMax: 0),
                    store: ledger, codes: codes, localParts: { _ in .any }),
                passkeys: PasskeyChecks(
                    store: ledger, key: .generate(), onCounterFault: { _, _, _ in }),
                flows: BrowserFlows(key: .generate()),
                pages: PageSessions(key: .generate()), staff: staff(),
                publicURL: "https://ledger.example",
                secondFactors: SecondFactors(
                    store: ledger, codes: codes,
                    passkeys: PasskeyChecks(
                        store: ledger, key: .generate(), onCounterFault: { _, _, _ in }),
                    tokens: SecondFactorTokens(key: .generate())),
                mergePlans: mergePlans, now: { Self.now },
                random: { SecureRandom.uint128() }, observer: observer, trustedProxies: proxies,
                allowedOrigins: origins, readiness: { Readiness(checks: []) }))
    }

    /// Makes a console whose identity provider cannot be reached.
    private func staff() -> StaffServices {
        let settings = StaffSettings(
            issuer: "https://id.example", client: "ledger", secret: "secret", rules: .development)
        let discovery = StaffDiscovery(
            settings, fetch: { _ in throw LedgerFault.unavailable }, onFault: { _ in })
        return StaffServices(
            sessions: StaffSessions(key: .generate()), store: InMemoryStaffSessions(),
            flows: StaffFlows(settings, discovery: discovery, key: .generate()))
    }

    private struct NoObserver: RequestObserver {
        func observed(_: RequestObservation) {}
    }
}
