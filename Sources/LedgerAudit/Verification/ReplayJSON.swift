import FoundationEssentials
package import Ledger

extension ReplayedEvent {
    /// The event as one line of JSON: `{"leaf":...,"disclosures":...,"entry":...}`.
    ///
    /// `entry` is the exact stored text, so that its bytes can be extracted and hashed again; `leaf` is the
    /// unpadded base64url form of the leaf hash, the form of `prev`. `disclosures` is present only when the
    /// replay disclosed.
    package var jsonLine: String {
        var line = "{\"leaf\":\"\(leaf)\""
        if let disclosed {
            let parts = disclosed.values.map { "\"\($0.name.rawValue)\":\(Self.quoted($0.value))" }
            line += ",\"disclosures\":{\(parts.joined(separator: ","))}"
        }
        return line + ",\"entry\":\(String(decoding: entry, as: UTF8.self))}"
    }

    private static func quoted(_ text: String) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        guard let json = try? encoder.encode(text) else { return "null" }
        return String(decoding: json, as: UTF8.self)
    }
}
