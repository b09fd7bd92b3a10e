package import HTTP
package import Ledger
package import LedgerSignIn

/// The services that the routes use; one object shared by all requests.
package final class APIServices: Sendable {
    /// Executes commands.
    package let commands: any CommandQueue
    /// Reads the read model.
    package let accounts: any AccountReader
    /// Stores the names that people gave to passkeys.
    package let names: any IdentityNames
    /// Reads the recent activity of accounts.
    package let activities: any ActivityReader
    /// Serves auditors, support and administrators.
    package let audit: AuditServices
    /// Looks up which tenants exist.
    package let tenants: any TenantDirectory
    /// The configuration by tenant; a tenant that exists and is not listed has no providers.
    package let configurations: [TenantID: TenantConfiguration]
    /// Issues and checks access tokens.
    package let accessTokens: AccessTokens
    /// Issues and recognises refresh tokens.
    package let refreshTokens: RefreshTokens
    /// Computes the digests of single-use ID tokens.
    package let singleUseIDTokens: SingleUseIDTokens
    /// Computes the digests under which input of clients is stored.
    package let requestDigests: RequestDigests
    /// Sends codes and checks them.
    package let codes: AddressCodes
    /// Hashes and checks passwords.
    package let passwords: PasswordChecks
    /// Makes the challenges of passkeys, and checks the responses.
    package let passkeys: PasskeyChecks
    /// Sends browsers to providers and back.
    package let flows: BrowserFlows
    /// Seals the sessions of the pages for people.
    package let pages: PageSessions
    /// Serves the console; nil without one.
    package let staff: StaffServices?
    /// The beginning of the addresses at which browsers reach the service; nil when it is not set.
    package let publicURL: String?
    /// Enrols second factors and checks their codes.
    package let secondFactors: SecondFactors
    /// Issues and recognises the digests of merge plans.
    package let mergePlans: MergePlanDigests
    /// Returns the wall-clock time.
    package let now: @Sendable () -> Timestamp
    /// Returns unpredictable bits for identifiers.
    package let random: @Sendable () -> UInt128
    /// Is notified of every request.
    package let observer: any RequestObserver
    /// The proxies whose `X-Forwarded-For` is trusted.
    package let trustedProxies: TrustedProxies
    /// The web pages that may call the API.
    package let allowedOrigins: AllowedOrigins
    /// Reports whether the service is ready.
    package let readiness: @Sendable () async -> Readiness

    /// Collects the services.
    package init(
        commands: any CommandQueue, accounts: any AccountReader, names: any IdentityNames,
        activities: any ActivityReader, audit: AuditServices,
        tenants: any TenantDirectory,
        configurations: [TenantID: TenantConfiguration], accessTokens: AccessTokens,
        refreshTokens: RefreshTokens, singleUseIDTokens: SingleUseIDTokens,
        requestDigests: RequestDigests, codes: AddressCodes, passwords: PasswordChecks,
        passkeys: PasskeyChecks, flows: BrowserFlows, pages: PageSessions,
        staff: StaffServices?, publicURL: String?,
        secondFactors: SecondFactors, mergePlans: MergePlanDigests,
        now: @escaping @Sendable () -> Timestamp,
        random: @escaping @Sendable () -> UInt128, observer: any RequestObserver,
        trustedProxies: TrustedProxies, allowedOrigins: AllowedOrigins,
        readiness: @escaping @Sendable () async -> Readiness
    ) {
        self.commands = commands
        self.accounts = accounts
        self.names = names
        self.activities = activities
        self.audit = audit
        self.tenants = tenants
        self.configurations = configurations
        self.accessTokens = accessTokens
        self.refreshTokens = refreshTokens
        self.singleUseIDTokens = singleUseIDTokens
        self.requestDigests = requestDigests
        self.codes = codes
        self.passwords = passwords
        self.passkeys = passkeys
        self.flows = flows
        self.pages = pages
        self.staff = staff
        self.publicURL = publicURL
        self.secondFactors = secondFactors
        self.mergePlans = mergePlans
        self.now = now
        self.random = random
        self.observer = observer
        self.trustedProxies = trustedProxies
        self.allowedOrigins = allowedOrigins
        self.readiness = readiness
    }

    /// Creates a new identifier.
    func newID<Kind>() -> EntityID<Kind> {
        EntityID(at: now(), random: random())
    }

    /// Returns the configuration of a tenant that exists.
    func configuration(of tenant: TenantID) -> TenantConfiguration {
        configurations[tenant] ?? Self.unconfigured
    }

    private static let unconfigured = TenantConfiguration(
        providers: [], policy: TenantPolicy(providers: []))
}
