internal import HTTP
internal import Ledger

/// The side whose identity of a provider stays, from the `keep` member of a merge's body.
enum MergeChoices {
    /// Returns the providers of which the absorbed account's identity stays.
    ///
    /// - Throws: 400 unless it maps providers to `survivor` or `absorbed`.
    static func keepsAbsorbed(_ body: RequestBody) throws(APIError) -> Set<ProviderName> {
        var kept: Set<ProviderName> = []
        for (name, side) in try body.optionalTexts("keep") {
            guard let provider = ProviderName(name), let side = Side(rawValue: side) else {
                throw .invalidRequest(
                    RequestFlaw(
                        "keep must map each provider to survivor or absorbed", at: .field("keep"))
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
