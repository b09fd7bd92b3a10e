package import Ledger

/// The place of the other account of a conflict.
package enum ConflictPlace: String, Hashable, Sendable {
    /// Earlier in the file.
    case file
    case ledger
}

/// A part of a record that was left out, or all of it.
package struct ImportProblem: Hashable, Sendable {
    /// The stable name of the kind.
    package let kind: String
    /// Set for a conflict.
    package let place: ConflictPlace?
    package let provider: ProviderName?

    /// Describes a problem.
    package init(_ kind: String, place: ConflictPlace? = nil, provider: ProviderName? = nil) {
        self.kind = kind
        self.place = place
        self.provider = provider
    }

    /// An account that would have no way to sign in.
    package static let noWay = ImportProblem("no_way_to_sign_in")
    /// An external id that was in the file before.
    package static let duplicateID = ImportProblem("duplicate_id", place: .file)
}

/// The results of an import, in numbers.
package struct ImportTotals: Sendable {
    package var records = 0
    package var opened = 0
    package var kept = 0
    package var refused = 0
    package var identities = 0
    package var addresses = 0
    package var passwords = 0
    package var disabled = 0
    /// The numbers of problems by kind, and by place for conflicts.
    package private(set) var problems: [String: Int] = [:]

    /// Starts with nothing.
    package init() {}

    /// Counts a problem.
    package mutating func add(_ problem: ImportProblem) {
        problems[problem.kind + (problem.place.map { " (\($0.rawValue))" } ?? ""), default: 0] += 1
    }

    /// The numbers for the operator.
    ///
    /// - Parameter isPreview: Whether nothing was imported.
    /// - Returns: Lines of text.
    package func text(isPreview: Bool) -> String {
        let verb = isPreview ? "to import" : "imported"
        var lines = [
            "records: \(records)",
            "\(verb): accounts \(opened), external ids \(opened), identities \(identities),"
                + " addresses \(addresses), passwords \(passwords)",
            "in the ledger or earlier in the file, by external id: \(kept)",
            "not imported: \(refused)",
        ]
        if disabled > 0 { lines.append("of the accounts, disabled: \(disabled)") }
        if !problems.isEmpty {
            lines.append("left out, by kind:")
            lines += problems.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value)" }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
