internal import LedgerMessages

extension ProvidersFile {
    private static let smsPerHourMax: Int64 = 1_000_000

    /// Reads the section `messages` of a tenant.
    static func messages(
        _ section: StrictObject
    ) throws(ProvidersFileFault) -> MessageSettings {
        try section.allow([
            "product", "language", "url", "sms_countries", "sms_per_hour", "sms_bound_codes",
            "texts",
        ])
        var settings = MessageSettings(product: try section.requiredText("product"))
        let product = MessagePlaceholder.product
        guard product.accepts(settings.product) else {
            throw ProvidersFileFault(
                section.location(of: "product"),
                "must be at most \(product.bytesMax) bytes of printable text")
        }
        if let language: MessageLanguage = try section.optionalCase("language") {
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
        settings.bindsCodes = try section.optionalFlag("sms_bound_codes") ?? false
        if section.has("texts") {
            settings.texts = try ownTexts(section.object("texts"), settings.product)
        }
        return settings
    }

    /// Reads the tenant's own texts by language, template and part.
    private static func ownTexts(
        _ section: StrictObject, _ product: String
    ) throws(ProvidersFileFault) -> [MessagePart: String] {
        try section.allow(Set(MessageLanguage.allCases.map(\.rawValue)))
        var texts: [MessagePart: String] = [:]
        for language in MessageLanguage.allCases where section.has(language.rawValue) {
            let templates = try section.object(language.rawValue)
            try templates.allow(Set(MessageTemplate.allCases.map(\.rawValue)))
            for template in MessageTemplate.allCases where templates.has(template.rawValue) {
                let parts = try templates.object(template.rawValue)
                let kinds = template.parts
                try parts.allow(Set(kinds.map(\.rawValue)))
                for kind in kinds where parts.has(kind.rawValue) {
                    let part = MessagePart(template, kind, in: language)
                    texts[part] = try ownText(of: part, parts, product)
                }
            }
        }
        return texts
    }

    /// Reads a text: a body is a list of paragraphs.
    private static func ownText(
        of part: MessagePart, _ section: StrictObject, _ product: String
    ) throws(ProvidersFileFault) -> String {
        let name = part.kind.rawValue
        let text =
            part.kind == .body
            ? try section.texts(name).joined(separator: "\n\n") + "\n"
            : try section.requiredText(name)
        do throws(MessageTextFault) {
            try part.check(text, product: product)
        } catch {
            throw ProvidersFileFault(section.location(of: name), error.description)
        }
        return text
    }
}
