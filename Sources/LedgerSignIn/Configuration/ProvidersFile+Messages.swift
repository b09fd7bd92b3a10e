internal import LedgerMessages

extension ProvidersFile {
    private static let smsPerHourMax: Int64 = 1_000_000

    /// Reads the section `messages` of a tenant.
    static func messages(
        _ section: StrictObject
    ) throws(ProvidersFileFault) -> MessageSettings {
        try section.allow(["product", "language", "url", "sms_countries", "sms_per_hour"])
        var settings = MessageSettings(product: try section.requiredText("product"))
        let isPlain = settings.product.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: false
            default: true
            }
        }
        guard isPlain, settings.product.utf8.count <= MessageSettings.productBytesMax else {
            throw ProvidersFileFault(
                section.location(of: "product"),
                "must be at most \(MessageSettings.productBytesMax) bytes of printable text")
        }
        if let text = try section.optionalText("language") {
            guard let language = MessageLanguage(rawValue: text) else {
                let known = MessageLanguage.allCases.map { "\"\($0.rawValue)\"" }
                throw ProvidersFileFault(
                    section.location(of: "language"), "must be \(known.joined(separator: " or "))")
            }
            settings.language = language
        }
        if let url = try section.optionalText("url") {
            guard MessageLink.isAcceptable(url), !url.hasSuffix("/"),
                !url.contains(where: { "?#".contains($0) })
            else {
                throw ProvidersFileFault(
                    section.location(of: "url"),
                    "must be an https URL without a slash at its end, query or fragment")
            }
            settings.baseURL = url
        }
        if section.has("sms_countries") {
            let codes = try section.texts("sms_countries")
            let isCode = { (code: String) in
                code.utf8.count == 2 && code.utf8.allSatisfy { (0x41...0x5A).contains($0) }
            }
            guard codes.allSatisfy(isCode) else {
                throw ProvidersFileFault(
                    section.location(of: "sms_countries"),
                    "must be codes of countries in upper case such as \"DE\"")
            }
            settings.smsCountries = SMSCountries(Set(codes))
        }
        if let count = try section.optionalNumber("sms_per_hour", 1...smsPerHourMax) {
            settings.smsPerHour = Int(count)
        }
        return settings
    }
}
