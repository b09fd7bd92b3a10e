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
    /// Whether the account was in the ledger, so that an earlier import may have reported the problem.
    package let isOfKept: Bool

    /// Describes a problem.
    package init(
        _ kind: String, place: ConflictPlace? = nil, provider: ProviderName? = nil,
        isOfKept: Bool = false
    ) {
        self.kind = kind
        self.place = place
        self.provider = provider
        self.isOfKept = isOfKept
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
    /// The same of accounts that were in the ledger.
    package private(set) var keptProblems: [String: Int] = [:]
    /// The numbers of identities at providers that the tenant lacks, by the providers' names in the file.
    package private(set) var unknownProviders: [String: Int] = [:]

    /// A file of another form may have any text in the place of names.
    private static let unknownProvidersMax = 100

    /// Starts with nothing.
    package init() {}

    /// Counts a problem.
    package mutating func add(_ problem: ImportProblem) {
        let kind = problem.kind + (problem.place.map { " (\($0.rawValue))" } ?? "")
        if problem.isOfKept {
            keptProblems[kind, default: 0] += 1
        } else {
            problems[kind, default: 0] += 1
        }
    }

    /// Counts an identity at a provider that the tenant lacks, if the name can be shown.
    package mutating func add(unknownProvider name: String) {
        let isShown = name.utf8.count <= 64 && name.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard isShown, !name.isEmpty,
            unknownProviders[name] != nil || unknownProviders.count < Self.unknownProvidersMax
        else { return }
        unknownProviders[name, default: 0] += 1
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
        for (title, counts) in [
            ("left out, by kind:", problems),
            ("left out of those in the ledger, by kind:", keptProblems),
            (
                "identities at providers that the tenant lacks, by their names in the file:",
                unknownProviders
            ),
        ] where !counts.isEmpty {
            lines.append(title)
            lines += counts.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value)" }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
