package import Ledger

/// The configuration of one tenant's messages.
package struct MessageSettings: Hashable, Sendable {
    /// The codes that are sent by SMS within an hour, unless the tenant has another number.
    package static let smsPerHourDefault = 1_000

    /// The name of what the accounts are for, as the texts have it.
    package var product: String
    /// The language of recipients who want no other one that there is.
    package var language: MessageLanguage
    /// The address of the tenant's pages, without a slash at its end; nil if they are at `LEDGER_PUBLIC_URL`.
    package var baseURL: String?
    /// The countries whose phone numbers are sent messages.
    package var smsCountries: SMSCountries
    /// The codes that are sent by SMS within an hour.
    package var smsPerHour: Int
    /// Whether the SMS of a code binds it to the host of the account page, where alone browsers then fill it in.
    package var bindsCodes = false
    /// The tenant's own texts, each in place of the built-in one.
    package var texts: [MessagePart: String] = [:]

    /// Describes a tenant's messages; without countries, no SMS is sent.
    package init(
        product: String = "AccountLedger", language: MessageLanguage = .english,
        baseURL: String? = nil, smsCountries: SMSCountries = SMSCountries(),
        smsPerHour: Int = MessageSettings.smsPerHourDefault
    ) {
        self.product = product
        self.language = language
        self.baseURL = baseURL
        self.smsCountries = smsCountries
        self.smsPerHour = smsPerHour
    }

    /// Returns the link to a tenant's account page.
    ///
    /// - Parameters:
    ///   - tenant: The tenant.
    ///   - publicURL: `LEDGER_PUBLIC_URL`.
    /// - Returns: The link; nil when the address of the page is not configured, or too long for a message.
    package func accountPage(of tenant: TenantID, publicURL: String?) -> String? {
        let path = tenant == .default ? "" : "/t/\(tenant)"
        guard let pages = baseURL ?? publicURL.map({ $0 + path }) else { return nil }
        let link = pages + "/account"
        return MessagePlaceholder.link.accepts(link) ? link : nil
    }
}

/// The countries to which SMS are sent: none unless they are listed.
///
/// Strangers can have messages sent to any number they name, and some countries' numbers pay those who have
/// them sent.
package struct SMSCountries: Hashable, Sendable {
    /// Codes of ISO 3166, in upper case.
    package let codes: Set<String>

    /// Lists countries.
    package init(_ codes: Set<String> = []) {
        self.codes = codes
    }

    /// Checks whether a number may receive messages, which is asked before one is written.
    ///
    /// - Parameters:
    ///   - region: The country of the number.
    ///   - mayBeMobile: Whether it may belong to a mobile phone.
    /// - Returns: Whether the country is listed and the number may be a mobile one.
    package func mayReceive(region: String, mayBeMobile: Bool) -> Bool {
        mayBeMobile && codes.contains(region)
    }
}
