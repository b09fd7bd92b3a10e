package import HTTP
package import Ledger

/// Everything that the routes work with; one object for all requests.
package final class APIServices: Sendable {
    /// Carries commands out.
    package let commands: any CommandQueue
    /// Reads the read model.
    package let accounts: any AccountReader
    /// Serves auditors, support and administrators.
    package let audit: AuditServices
    /// Knows which tenants exist.
    package let tenants: any TenantDirectory
    /// What is configured; a tenant that exists and is not listed has no providers.
    package let configurations: [TenantID: TenantConfiguration]
    /// Makes and checks access tokens.
    package let accessTokens: AccessTokens
    /// Makes and recognises refresh tokens.
    package let refreshTokens: RefreshTokens
    /// Names ID tokens that are to be used once.
    package let singleUseIDTokens: SingleUseIDTokens
    /// Makes and recognises the digests of merge plans.
    package let mergePlans: MergePlanDigests
    /// Tells the wall time.
    package let now: @Sendable () -> Timestamp
    /// Makes unpredictable bits for identifiers.
    package let random: @Sendable () -> UInt128
    /// Hears of every request.
    package let observer: any RequestObserver
    /// Whose `X-Forwarded-For` is believed.
    package let trustedProxies: TrustedProxies
    /// Which web pages may call.
    package let allowedOrigins: AllowedOrigins
    /// Says whether the service is ready.
    package let readiness: @Sendable () async -> Readiness

    /// Collects the services.
    package init(
        commands: any CommandQueue, accounts: any AccountReader, audit: AuditServices,
        tenants: any TenantDirectory,
        configurations: [TenantID: TenantConfiguration], accessTokens: AccessTokens,
        refreshTokens: RefreshTokens, singleUseIDTokens: SingleUseIDTokens,
        mergePlans: MergePlanDigests,
        now: @escaping @Sendable () -> Timestamp,
        random: @escaping @Sendable () -> UInt128, observer: any RequestObserver,
        trustedProxies: TrustedProxies, allowedOrigins: AllowedOrigins,
        readiness: @escaping @Sendable () async -> Readiness
    ) {
        self.commands = commands
        self.accounts = accounts
        self.audit = audit
        self.tenants = tenants
        self.configurations = configurations
        self.accessTokens = accessTokens
        self.refreshTokens = refreshTokens
        self.singleUseIDTokens = singleUseIDTokens
        self.mergePlans = mergePlans
        self.now = now
        self.random = random
        self.observer = observer
        self.trustedProxies = trustedProxies
        self.allowedOrigins = allowedOrigins
        self.readiness = readiness
    }

    /// Makes a new identifier.
    func newID<Kind>() -> EntityID<Kind> {
        EntityID(at: now(), random: random())
    }

    /// What is configured for a tenant that exists.
    func configuration(of tenant: TenantID) -> TenantConfiguration {
        configurations[tenant] ?? Self.unconfigured
    }

    private static let unconfigured = TenantConfiguration(
        providers: [], policy: TenantPolicy(providers: []))
}
