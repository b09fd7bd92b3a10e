internal import Migrations
package import Postgres

/// The strength with which the database keeps the log append-only; each level includes those below
/// it.
package enum AppendOnlyLevel: Int, Sendable, Hashable, Comparable {
    /// The owner can change rows or subvert the log.
    case unguarded = 0
    /// Triggers refuse UPDATE, DELETE and TRUNCATE to all roles until their owner drops them.
    case triggers = 1
    /// The runtime login has no privilege to change the log, nor any way to obtain one.
    case separateRoles = 2
    /// Event triggers refuse changes to the owner as well.
    case eventTriggers = 3

    /// Orders by strength.
    package static func < (left: AppendOnlyLevel, right: AppendOnlyLevel) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The state of the log's guards in the catalogue, for given runtime logins.
///
/// The log consists of `events` and the other tables in `GuardedTables`.
package struct AppendOnlyGuards: Sendable, Hashable {
    /// A requirement of a level that the database does not meet.
    package struct Finding: Sendable, Hashable {
        /// The lowest level that it prevents.
        package let level: AppendOnlyLevel
        /// The description, which names only roles and objects.
        package let text: String
    }

    private static let findingsShownMax = 3

    /// All unmet requirements, the lowest level first.
    package let findings: [Finding]

    /// The highest level whose requirements, and those of all below it, are met.
    package var level: AppendOnlyLevel {
        guard let lowest = findings.map(\.level.rawValue).min() else { return .eventTriggers }
        return AppendOnlyLevel(rawValue: lowest - 1) ?? .unguarded
    }

    /// One line with the level and the reasons for which it is not higher.
    package var sentence: String { sentence(about: "the serving login") }

    /// Returns the sentence with other words for the inspected logins.
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

    /// Inspects triggers, privileges and event triggers; needs only the privilege to connect.
    ///
    /// - Parameters:
    ///   - connection: Any connection to the database.
    ///   - logins: The runtime logins.
    /// - Returns: The unmet requirements, for the weakest login.
    /// - Throws: `PostgresError` if the catalogue is unreadable.
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
            let level = AppendOnlyLevel(rawValue: Int(try rows.int4(row, rows.column("level"))))
            findings.append(
                Finding(level: level ?? .triggers, text: try rows.text(row, rows.column("finding")))
            )
        }
        guard try DatabaseEngine(of: connection) == .citus else {
            return AppendOnlyGuards(findings: findings)
        }
        let all =
            findings.filter { $0.level < .eventTriggers }
            + (try ShardGuards.findings(on: connection, logins: logins))
        return AppendOnlyGuards(findings: all.sorted { $0.level < $1.level })
    }

    private static let query = Statement("append_only_findings", MigrationScripts.guardFindings)

    /// Returns the body of the one function that a script quotes with this tag.
    static func body(of script: String, tag: String) -> String {
        let parts = script.split(separator: tag, omittingEmptySubsequences: false)
        return parts.count == 3 ? String(parts[1]) : ""
    }
}
