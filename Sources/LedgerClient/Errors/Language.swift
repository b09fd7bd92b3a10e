import Foundation

/// A language of the sentences for people; the same as those of the ledger's account page.
public enum Language: String, CaseIterable, Sendable {
    /// English.
    case english = "en"
    /// German.
    case german = "de"
    /// Spanish.
    case spanish = "es"
    /// French.
    case french = "fr"
    /// Japanese.
    case japanese = "ja"
    /// Chinese in traditional characters.
    case traditionalChinese = "zh-Hant"

    /// Chooses the first language that there is among a person's, such as `["de-AT", "en"]`; English without one.
    public init(preferred: [String]) {
        self = preferred.lazy.compactMap(Self.init(tag:)).first ?? .english
    }

    /// The language of the device.
    public static var current: Self { Self(preferred: Locale.preferredLanguages) }

    /// Reads a tag of BCP 47, such as `zh-TW` or `zh_Hant_TW`; nil for another language.
    private init?(tag: String) {
        let parts = tag.lowercased().split { $0 == "-" || $0 == "_" }
        guard let first = parts.first else { return nil }
        if first == "zh" {
            let isTraditional = parts.dropFirst().contains {
                ["hant", "tw", "hk", "mo"].contains($0)
            }
            guard isTraditional, !parts.contains("hans") else { return nil }
            self = .traditionalChinese
        } else {
            self.init(rawValue: String(first))
        }
    }
}

extension LedgerError {
    /// Returns a sentence for the person, about what happened and what to do.
    ///
    /// It never contains data of the request. Show ``requestID`` beside it where people report errors.
    ///
    /// - Parameter language: The language; that of the device by default.
    /// - Returns: The sentence.
    public func sentence(in language: Language = .current) -> String {
        let sentences = Sentences.of(language)
        if code == .weakPassword, let count = details["length_min"] {
            return sentences.passwordTooShort.replacing("{count}", with: count)
        }
        return sentences.byCode[code] ?? sentences.failed
    }
}
