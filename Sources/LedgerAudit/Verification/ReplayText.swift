package import Ledger
internal import LedgerExport

extension ReplayedEvent {
    /// The event as an export writes it to a file of JSON lines; `disclosures` is present only when the replay
    /// disclosed.
    package var jsonLine: String {
        let disclosures = disclosed?.values.map { Disclosure($0.name, $0.value) }
        let line = JSONLines.line(
            entry: entry, leaf: leaf.description, disclosures: disclosures)
        return String(decoding: line, as: UTF8.self)
    }

    /// The event in one or two readable lines.
    ///
    /// Shows personal data only when the replay disclosed it; its control characters are escaped, so that a
    /// name cannot contain terminal escape sequences.
    package var text: String {
        let fact = recorded.event.fact
        let attributes = fact.attributes
        var first = [
            "#\(recorded.position)", "\(recorded.recordedAt)", recorded.event.name.rawValue,
        ]
        first.append(
            attributes.reason.map { "\(fact.outcome.rawValue) (\($0))" } ?? fact.outcome.rawValue)
        if let provider = attributes.provider { first.append("provider \(provider)") }
        if let identity = attributes.identity { first.append("identity \(identity)") }
        if let session = attributes.session { first.append("session \(session)") }
        var second = ["by \(recorded.actor.columnText)"]
        if !recorded.accounts.isEmpty {
            let accounts = recorded.accounts.map { "\($0.id) (seq \($0.sequence))" }
            second.append("accounts " + accounts.joined(separator: ", "))
        }
        if let request = recorded.request { second.append("request \(request)") }
        for (name, value) in disclosed?.values ?? [] {
            second.append("\(name.rawValue) \(Self.printable(value))")
        }
        return first.joined(separator: "  ") + "\n    " + second.joined(separator: "  ")
    }

    /// Returns an external text in quotes, with control characters escaped.
    package static func printable(_ value: String) -> String {
        var text = "\""
        for scalar in value.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                text += "\\u{\(String(scalar.value, radix: 16))}"
            default:
                text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}
