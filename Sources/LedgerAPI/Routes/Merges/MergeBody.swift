internal import Cryptography
internal import HTTP
internal import Ledger

/// Which side's identity of a provider stays, by the `keep` member of a merge's body.
enum MergeChoices {
    /// Providers of which the absorbed account's identity stays.
    ///
    /// - Throws: 400 unless it is an object of providers with `survivor` or `absorbed` each.
    static func keepsAbsorbed(_ body: RequestBody) throws(APIError) -> Set<ProviderName> {
        var kept: Set<ProviderName> = []
        for (name, side) in try body.optionalTexts("keep") {
            guard let provider = ProviderName(name), let side = Side(rawValue: side) else {
                throw .invalidRequest(
                    RequestFlaw(
                        "keep must name survivor or absorbed for each provider", at: .field("keep"))
                )
            }
            if side == .absorbed { kept.insert(provider) }
        }
        return kept
    }

    enum Side: String {
        case survivor
        case absorbed
    }
}
