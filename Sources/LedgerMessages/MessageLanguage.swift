/// A language that every template has a text in.
package enum MessageLanguage: String, Hashable, Sendable, CaseIterable {
    case english = "en"
    case german = "de"

    /// The most bytes of a list of wanted languages that are read.
    private static let listBytesMax = 512

    /// Returns the most wanted language of an `Accept-Language` field, or else the fallback.
    ///
    /// Regions and scripts are ignored: `de-AT` is German. A malformed part of the list is skipped.
    package static func wanted(
        by list: String?, else fallback: MessageLanguage
    ) -> MessageLanguage {
        guard let list, list.utf8.count <= listBytesMax else { return fallback }
        var best: (language: MessageLanguage, weight: Double)?
        for part in list.split(separator: ",") {
            let pieces = part.split(separator: ";").map { trimmed($0) }
            guard let tag = pieces.first, let weight = weight(pieces.dropFirst()), weight > 0
            else { continue }
            let primary = tag.split(separator: "-").first.map { $0.lowercased() } ?? ""
            guard let language = primary == "*" ? fallback : MessageLanguage(rawValue: primary)
            else { continue }
            if weight > best?.weight ?? 0 { best = (language, weight) }
        }
        return best?.language ?? fallback
    }

    private static func weight(_ parameters: ArraySlice<Substring>) -> Double? {
        guard let parameter = parameters.first else { return 1 }
        guard parameter.lowercased().hasPrefix("q="), let weight = Double(parameter.dropFirst(2)),
            (0...1).contains(weight)
        else { return nil }
        return weight
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
