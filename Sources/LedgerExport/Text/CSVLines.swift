internal import Ledger

/// Events as rows of a table, RFC 4180, for spreadsheets; not to be verified.
///
/// A cell that a spreadsheet would take for a formula is written with an apostrophe before it.
package enum CSVLines {
    private static let columns = [
        "position", "recorded_at", "event", "type", "outcome", "actor", "account", "account_seq",
        "other_accounts", "details", "request", "command",
    ]
    private static let disclosedColumns = Disclosure.Name.allCases.map(\.rawValue)
    private static let formulaBeginnings: Set<UInt8> = [
        UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"), 0x09, 0x0D,
    ]

    /// The row of the columns' names.
    package static func header(isDisclosed: Bool) -> String {
        (columns + (isDisclosed ? disclosedColumns : [])).joined(separator: ",") + "\r\n"
    }

    /// The row of an event.
    package static func row(_ event: ExportedEvent, isDisclosed: Bool) -> String {
        let recorded = event.recorded
        let first = recorded.accounts.first
        let fact = recorded.event.fact
        var cells = [
            recorded.position.description, recorded.recordedAt.description,
            recorded.id.description, recorded.event.name.rawValue, fact.outcome.rawValue,
            recorded.actor.columnText, first?.id.description ?? "",
            first.map { String($0.sequence) } ?? "",
            recorded.accounts.dropFirst().map(\.id.description).joined(separator: " "),
            fact.details.fields.map { "\($0.name)=\(text(of: $0.value))" }.joined(separator: " "),
            recorded.request?.description ?? "", recorded.command.description,
        ]
        if isDisclosed {
            cells += Disclosure.Name.allCases.map { name in
                event.disclosures.first { $0.disclosure.name == name }?.disclosure.value ?? ""
            }
        }
        return cells.map(cell).joined(separator: ",") + "\r\n"
    }

    private static func text(of value: EntryDetails.Value) -> String {
        switch value {
        case .text(let text): text
        case .links(let links):
            links.map { "\($0.provider):\($0.identity)" }.joined(separator: ",")
        }
    }

    /// A cell, quoted where it has to be.
    package static func cell(_ text: String) -> String {
        let isFormula = text.utf8.first.map(formulaBeginnings.contains) ?? false
        let safe = isFormula ? "'" + text : text
        let needsQuotes = safe.utf8.contains { byte in
            byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte < 0x20
        }
        return needsQuotes ? "\"" + safe.replacing("\"", with: "\"\"") + "\"" : safe
    }
}
