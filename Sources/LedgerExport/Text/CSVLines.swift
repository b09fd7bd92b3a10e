internal import Ledger

/// Events as CSV (RFC 4180) for spreadsheets; cannot be verified.
///
/// Every cell is quoted. An apostrophe is inserted before anything that a spreadsheet would read as
/// a formula: at the beginning of a cell, and wherever a program that separates cells by semicolons
/// or tabs, or ignores quotes, would start another cell.
package enum CSVLines {
    private static let columns = [
        "position", "recorded_at", "event", "type", "outcome", "actor", "account", "account_seq",
        "other_accounts", "details", "request", "command",
    ]
    private static let disclosedColumns = Disclosure.Name.allCases.map(\.rawValue)
    /// The characters that start a formula, including full-width forms.
    private static let formulaBeginnings: Set<Unicode.Scalar> = [
        "=", "+", "-", "@", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}",
    ]
    /// The characters after which another cell may start.
    private static let separators: Set<Unicode.Scalar> = [";", "\t", "\n", "\r"]
    /// The characters that may precede the first one of a cell.
    private static let skipped: Set<Unicode.Scalar> = [" ", "\"", "\u{A0}", "\u{FEFF}"]

    /// Returns the row of column names.
    package static func header(isDisclosed: Bool) -> String {
        (columns + (isDisclosed ? disclosedColumns : [])).map(cell).joined(separator: ",")
            + "\r\n"
    }

    /// Returns the row of an event.
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

    /// Returns a quoted cell that no spreadsheet evaluates.
    package static func cell(_ text: String) -> String {
        var cell = "\"".unicodeScalars
        var isBeginning = true
        if let first = text.unicodeScalars.first, separators.contains(first), first != ";" {
            cell.append("'")
        }
        for scalar in text.unicodeScalars {
            if isBeginning, formulaBeginnings.contains(scalar) { cell.append("'") }
            isBeginning = separators.contains(scalar) || isBeginning && skipped.contains(scalar)
            if scalar == "\"" { cell.append(scalar) }
            cell.append(scalar)
        }
        cell.append("\"")
        return String(cell)
    }
}
