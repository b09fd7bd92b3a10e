internal import JSON
internal import Ledger
internal import LedgerMessages

extension ProvidersFile {
    /// One tenant's section of the file.
    struct TenantSettings {
        var providers: [ProviderConfiguration] = []
        var severalPerProvider = false
        var singleUseIDTokens = false
        /// Nil for that of the environment.
        var eraseNeedsTwo: Bool?
        var confirmLater = false
        /// Nil for the default.
        var phoneUnusedDays: Int64?
        /// Nil for the default.
        var supportDelayHours: Int64?
        var supportNeedsTwo = false
        var messages = MessageSettings()
        var localParts = EmailLocalParts.ascii
        var returnAddresses = ReturnAddresses()
        var tokenSources: [NameSource] = []
    }

    private static let displayNameBytesMax = 64
    /// Fewer days would take numbers from people who were only away.
    private static let phoneUnusedDaysMin: Int64 = 30
    private static let phoneUnusedDaysMax: Int64 = 3_650

    static func tenantSettings(
        _ section: StrictObject, sharing keySets: inout SharedKeySets
    ) throws(ProvidersFileFault) -> TenantSettings {
        try section.allow([
            "providers", "several_per_provider", "single_use_id_tokens", "erase_needs_two",
            "confirm_later", "phone_unused_days", "support_delay_hours", "support_needs_two",
            "messages", "email_local_parts", "return_to", "app_name", "token_external_ids",
        ])
        let (value, location) = try section.required("providers")
        guard let entries = value.array else {
            throw ProvidersFileFault(location, "must be a list of objects")
        }
        guard entries.count <= providerCountMax else {
            throw ProvidersFileFault(location, "has more than \(providerCountMax) elements")
        }
        var settings = TenantSettings()
        settings.severalPerProvider = try section.optionalFlag("several_per_provider") ?? false
        settings.singleUseIDTokens = try section.optionalFlag("single_use_id_tokens") ?? false
        settings.eraseNeedsTwo = try section.optionalFlag("erase_needs_two")
        settings.confirmLater = try section.optionalFlag("confirm_later") ?? false
        settings.phoneUnusedDays = try phoneUnusedDays(section)
        settings.supportDelayHours = try section.optionalNumber(
            "support_delay_hours", TenantPolicy.supportDelayHoursRange)
        settings.supportNeedsTwo = try section.optionalFlag("support_needs_two") ?? false
        if section.has("messages") {
            settings.messages = try messages(section.object("messages"))
        }
        settings.localParts = try section.optionalCase("email_local_parts") ?? .ascii
        settings.returnAddresses = try ReturnAddresses(section)
        settings.tokenSources = try tokenSources(section)
        for (index, entry) in entries.enumerated() {
            let object = try StrictObject(entry, at: "\(location)[\(index)]")
            let provider = try provider(object, sharing: &keySets)
            guard !settings.providers.contains(where: { $0.name == provider.name }) else {
                throw ProvidersFileFault(
                    object.location(of: "name"), "is a duplicate provider name")
            }
            // Accounts are found by addresses, so two such providers would share them.
            let type = provider.pin.type
            if type.addressKind != nil,
                settings.providers.contains(where: { $0.pin.type == type })
            {
                throw ProvidersFileFault(
                    object.location(of: "type"), "is a second provider of this type")
            }
            settings.providers.append(provider)
        }
        return settings
    }

    private static func phoneUnusedDays(
        _ section: StrictObject
    ) throws(ProvidersFileFault) -> Int64? {
        let name = "phone_unused_days"
        let days = try section.optionalNumber(name, 0...phoneUnusedDaysMax)
        guard days.map({ $0 == 0 || $0 >= phoneUnusedDaysMin }) ?? true else {
            throw ProvidersFileFault(
                section.location(of: name), "must be 0 or at least \(phoneUnusedDaysMin)")
        }
        return days
    }

    /// Reads the systems whose external ids stand in access tokens.
    private static func tokenSources(
        _ section: StrictObject
    ) throws(ProvidersFileFault) -> [NameSource] {
        guard section.has("token_external_ids") else { return [] }
        let location = section.location(of: "token_external_ids")
        var sources: [NameSource] = []
        for text in try section.texts("token_external_ids") {
            guard let source = NameSource(text) else {
                throw ProvidersFileFault(
                    "\(location)[\(sources.count)]",
                    "must be lower-case letters, digits, -, _ and .")
            }
            sources.append(source)
        }
        guard sources.count <= TenantConfiguration.tokenSourcesMax else {
            throw ProvidersFileFault(
                location, "has more than \(TenantConfiguration.tokenSourcesMax) elements")
        }
        return sources
    }

    private static func provider(
        _ object: StrictObject, sharing keySets: inout SharedKeySets
    ) throws(ProvidersFileFault) -> ProviderConfiguration {
        guard let name = ProviderName(try object.requiredText("name")) else {
            throw ProvidersFileFault(
                object.location(of: "name"), "must be lower-case letters, digits, -, _ and .")
        }
        let displayName = try object.optionalText("display_name")
        guard displayName?.utf8.count ?? 0 <= displayNameBytesMax else {
            throw ProvidersFileFault(
                object.location(of: "display_name"), "has more than \(displayNameBytesMax) bytes")
        }
        return ProviderConfiguration(
            name: name, displayName: displayName,
            settings: try ProviderSettings(try type(object), object, sharing: &keySets),
            noticesNewDevices: try object.optionalFlag("new_device_notices") ?? true)
    }

    /// Returns the type of a provider: OpenID Connect unless the section names another one.
    private static func type(
        _ object: StrictObject
    ) throws(ProvidersFileFault) -> ProviderType {
        try object.optionalCase("type") ?? .oidc
    }
}
