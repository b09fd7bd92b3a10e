/// The sentences for people in one language.
struct Sentences: Sendable {
    /// The sentence for a code without its own.
    let failed: String
    /// With `{count}` in place of a number of characters.
    let passwordTooShort: String
    let byCode: [LedgerError.Code: String]

    static func of(_ language: Language) -> Self {
        switch language {
        case .english: .english
        case .german: .german
        case .spanish: .spanish
        case .french: .french
        case .japanese: .japanese
        case .traditionalChinese: .traditionalChinese
        }
    }

    /// The codes whose sentence is this client's own, because that of the account page is about a page or a time.
    static let own: Set<LedgerError.Code> = [
        .providerNotLinked, .rateLimited, .unavailable, .rulesDiffer, .tenantMoved,
        .secondFactorEnrolled, .secondFactorRequired, .gateClosed,
    ]
}
