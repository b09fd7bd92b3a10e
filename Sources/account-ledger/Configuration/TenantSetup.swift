import CommandLine
import Cryptography
import DevelopmentIdentityProvider
import Foundation
import Ledger
import LedgerMessages
import LedgerSignIn
import OpenID
import Passkeys
import Passwords

/// The providers of each tenant: from the file, or those of the development mode.
enum TenantSetup {
    /// Reads the file of `LEDGER_PROVIDERS`.
    ///
    /// - Throws: `Fault` with one line that names the position in the file.
    static func read(
        path: String, limits: PolicyLimits
    ) throws(Fault) -> [TenantID: TenantConfiguration] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Fault("\(Setting.providers.name): can't read the file")
        }
        do throws(ProvidersFileFault) {
            return try ProvidersFile.parse(Array(data), policy: limits.policy)
        } catch {
            throw Fault("\(Setting.providers.name): \(error)")
        }
    }

    /// Returns the local parts of e-mail addresses that a tenant takes, as its section of the providers file says.
    static func localParts(
        of tenant: TenantID, _ environment: Environment
    ) throws(Fault) -> EmailLocalParts {
        guard let path = environment.given(.providers) else { return .ascii }
        return try read(path: path, limits: PolicyLimits(environment))[tenant]?.localParts ?? .ascii
    }

    /// The provider of anonymous accounts in the development mode.
    private static let anonymous = "anonymous"
    /// The provider of passkeys in the development mode, and the domain that browsers take for this machine.
    private static let passkey = "passkey"
    private static let developmentDomain = "localhost"
    /// The countries to whose phones the development mode sends codes, which it keeps.
    private static let developmentCountries: Set<String> = ["AT", "CH", "DE", "FR", "GB", "US"]
    /// The codes that it sends to phones in an hour.
    private static let developmentTexts = 1_000_000
    private static let developmentPasswordLengthMin = 8
    /// The number of accounts of anonymous people, and of passkeys, that may be opened in an hour in the development
    /// mode.
    private static let developmentOpenings = 1_000_000

    /// The values of `amr` of the imitated issuers that satisfy a second factor.
    private static let developmentFactors: Set<String> = ["mfa"]

    /// The path of the addresses of this machine to which browser flows may return in the development mode.
    private static let developmentReturnPath = "/callback"

    /// The names for people that are not the capitalised ones.
    private static let developmentDisplayNames: [OAuth2Settings.Preset: String] = [
        .github: "GitHub", .linkedin: "LinkedIn",
    ]

    private static func developmentBudget() -> OpeningBudget {
        OpeningBudget(networkLimit: developmentOpenings, tenantLimit: developmentOpenings)
    }

    /// Returns the browser flow of an imitated provider.
    private static func flow(of name: String, api: String) -> FlowSettings {
        let base = DevelopmentIdentityProvider.baseURL(of: name, api: api)
        return FlowSettings(
            authorizationURL: base + "/authorize", tokenURL: base + "/token",
            client: DevelopmentIdentityProvider.audience,
            secret: ImitatedTokenProvider.clientSecret, scope: "openid email",
            usesFormPost: name == "apple")
    }

    /// Every provider of the development mode with its pin, which is the same on every address.
    static let developmentPins: [ProviderName: ProviderPin] = {
        let types =
            DevelopmentIdentityProvider.names.map { ($0, ProviderType.oidc) }
            + ImitatedTokenProvider.names.map { ($0, .oauth2) } + [(anonymous, .anonymous)]
            + [ProviderType.email, .phone, .password].map { ($0.rawValue, $0) }
        var pins: [ProviderName: ProviderPin] = [:]
        for (text, type) in types {
            guard let name = ProviderName(text) else { continue }
            let issuers = [.oidc, .oauth2].contains(type) ? ["development:\(name)"] : []
            pins[name] = ProviderPin(type: type, issuers: issuers)
        }
        if let name = ProviderName(passkey) {
            pins[name] = ProviderPin(type: .passkey, issuers: [developmentDomain])
        }
        return pins
    }()

    /// Returns the providers that the development identity provider imitates, the same for each tenant.
    static func development(
        _ imitated: [ImitatedProvider], api: String, tenants: some Sequence<TenantID>,
        limits: PolicyLimits
    ) -> [TenantID: TenantConfiguration] {
        let providers = imitated.compactMap { provider in
            ProviderName(provider.name).map { name in
                ProviderConfiguration(
                    name: name, pin: developmentPins[name],
                    settings: .oidc(
                        OIDCSettings(
                            check: IDTokenPolicy(
                                issuers: [provider.issuer],
                                audiences: [DevelopmentIdentityProvider.audience],
                                algorithms: [.rs256], nonce: provider.nonce),
                            keys: KeySetCache(
                                url: DevelopmentIdentityProvider.keySetURL(
                                    of: provider.name, api: api)),
                            flow: flow(of: provider.name, api: api),
                            secondFactorMethods: developmentFactors)))
            }
        }
        let tokenProviders = OAuth2Settings.Preset.allCases.compactMap { preset in
            ProviderName(preset.rawValue).map { name in
                ProviderConfiguration(
                    name: name, displayName: developmentDisplayNames[preset],
                    pin: developmentPins[name],
                    settings: .oauth2(
                        OAuth2Settings(
                            preset, client: DevelopmentIdentityProvider.audience,
                            secret: ImitatedTokenProvider.clientSecret,
                            api: DevelopmentIdentityProvider.baseURL(
                                of: preset.rawValue, api: api),
                            flow: flow(of: preset.rawValue, api: api))))
            }
        }
        let anonymous = ProviderName(anonymous).map { name in
            ProviderConfiguration(
                name: name,
                settings: .anonymous(AnonymousSettings(budget: developmentBudget())))
        }
        var own: [(ProviderType, ProviderSettings)] = AddressKind.allCases.map {
            ($0 == .email ? .email : .phone, .code(CodeSettings(kind: $0)))
        }
        if let rule = PasswordRule(lengthMin: developmentPasswordLengthMin) {
            own.append((.password, .password(PasswordSettings(rule: rule))))
        }
        // Browsers make passkeys for names of machines, and for no addresses.
        let page = api.replacing("127.0.0.1", with: developmentDomain)
        if let party = RelyingParty(
            id: developmentDomain, name: "AccountLedger", origins: [page])
        {
            own.append(
                (
                    .passkey,
                    .passkey(PasskeySettings(relyingParty: party, budget: developmentBudget()))
                ))
        }
        let addressed = own.compactMap { type, settings in
            ProviderName(type.rawValue).map { ProviderConfiguration(name: $0, settings: settings) }
        }
        let configuration = TenantConfiguration(
            providers: providers + tokenProviders + [anonymous].compactMap(\.self) + addressed,
            policy: limits.policy,
            messages: MessageSettings(
                smsCountries: SMSCountries(developmentCountries), smsPerHour: developmentTexts),
            returnAddresses: ReturnAddresses(loopbackPath: developmentReturnPath))
        return Dictionary(tenants.map { ($0, configuration) }) { first, _ in first }
    }
}
