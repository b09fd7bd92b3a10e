internal import Migrations
package import Postgres

/// How strongly the database itself keeps the log append-only; each level holds the ones below it.
package enum AppendOnlyLevel: Int, Sendable, Hashable, Comparable {
    /// Rows can be changed, or the log can be subverted, by whoever owns it.
    case unguarded = 0
    /// Triggers refuse UPDATE, DELETE and TRUNCATE to everybody, until their owner takes them away.
    case triggers = 1
    /// The login that serves has no right to change the log, nor any way to get one.
    case separateRoles = 2
    /// Event triggers refuse it to the owner as well.
    case eventTriggers = 3

    /// Orders by strength.
    package static func < (left: AppendOnlyLevel, right: AppendOnlyLevel) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// What the catalogue says about the guards of the log, as seen from logins that serve.
///
/// The log is `events` and what lies beside it: the tables that `GuardedTables` lists.
package struct AppendOnlyGuards: Sendable, Hashable {
    /// Something that a level wants and the database does not have.
    package struct Finding: Sendable, Hashable {
        /// The lowest level that it keeps from being reached.
        package let level: AppendOnlyLevel
        /// What it is, naming roles and objects only.
        package let text: String
    }

    private static let findingsShownMax = 3

    /// Everything that is missing, the lowest level first.
    package let findings: [Finding]

    /// The highest level of which, and below which, nothing is missing.
    package var level: AppendOnlyLevel {
        guard let lowest = findings.map(\.level.rawValue).min() else { return .eventTriggers }
        return AppendOnlyLevel(rawValue: lowest - 1) ?? .unguarded
    }

    /// One line about the level and what keeps it from being higher.
    package var sentence: String { sentence(about: "the serving login") }

    /// The same, with other words for the logins that were inspected.
    func sentence(about logins: String) -> String {
        let next = findings.filter { $0.level.rawValue == level.rawValue + 1 }.map(\.text)
        let shown = next.prefix(Self.findingsShownMax).joined(separator: "; ")
        let more = next.count - Self.findingsShownMax
        let reason = more > 0 ? "\(shown); and \(more) more" : shown
        let start = "append-only level \(level.rawValue) of 3"
        return switch level {
        case .unguarded: "\(start): the log is not guarded: \(reason)"
        case .triggers: "\(start): triggers refuse changes of the log, but \(reason)"
        case .separateRoles:
            "\(start): \(logins) cannot change the log, but its owner could: \(reason)"
        case .eventTriggers:
            "\(start): event triggers refuse changes of the log to its owner as well,"
                + " and only a superuser can lift them"
        }
    }

    /// Inspects triggers, rights and event triggers; needs no right but to connect.
    ///
    /// - Parameters:
    ///   - connection: Any connection to the database.
    ///   - logins: The roles that serve.
    /// - Returns: What is missing, for the weakest of them.
    /// - Throws: `PostgresError` when the catalogue cannot be read.
    package static func inspect(
        _ connection: Connection, logins: [String]
    ) throws(PostgresError) -> AppendOnlyGuards {
        let rows = try connection.query(
            query,
            [
                .texts(logins),
                .text(body(of: MigrationScripts.guardTriggers, tag: "$refuse$")),
                .text(body(of: MigrationScripts.guardEventTriggers, tag: "$guard$")),
                .texts(GuardedFunction.all.map(\.name)),
                .texts(GuardedFunction.all.map(\.body)),
            ])
        var findings: [Finding] = []
        for row in 0..<rows.rowCount {
            let level = AppendOnlyLevel(rawValue: Int(try rows.int4(row, 0)))
            findings.append(
                Finding(level: level ?? .triggers, text: try rows.text(row, 1)))
        }
        return AppendOnlyGuards(findings: findings)
    }

    private static let query = Statement("append_only_findings", MigrationScripts.guardFindings)

    /// The body of the one function that a script quotes with this tag.
    private static func body(of script: String, tag: String) -> String {
        let parts = script.split(separator: tag, omittingEmptySubsequences: false)
        return parts.count == 3 ? String(parts[1]) : ""
    }
}
