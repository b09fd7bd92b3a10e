import Postgres
import Synchronization

/// Refuses to work on a schema of another version than this binary's.
///
/// Each schema version has its own rules for deciding commands and reading rows, so a process left
/// running during a migration would use outdated ones. A batch reads the version under the heads'
/// lock, and a migration locks all heads until it is committed: an older version appends nothing
/// after it.
package final class SchemaFence: Sendable {
    /// The query of the schema's version; it must follow the reads that it validates.
    static let version = Statement(
        "schema_version", "SELECT max(version) FROM public.ledger_migrations")

    private let wanted: Int32
    /// The last other version found; 0 for none.
    private let lastFound = Atomic<Int32>(0)

    /// Creates a fence; the parts of a process share one, so that the reason is logged once.
    package init(version: Int = Migration.embedded.count) {
        wanted = Int32(version)
    }

    /// Checks the version in the result of a statement that selects it.
    ///
    /// - Throws: `OtherSchema`, or `PostgresError` if the result has another form.
    func check(_ result: QueryResult, column: Int = 0) throws {
        let found = try result.optionalInt4(0, column) ?? 0
        guard found != wanted else { return }
        let last = lastFound.exchange(found, ordering: .relaxed)
        throw OtherSchema(found: found, wanted: wanted, isFirstReport: last != found)
    }

    /// Returns the text to log about a failure; nil if the fence has reported it before.
    static func logText(of error: any Error) -> String? {
        guard let other = error as? OtherSchema else { return "\(error)" }
        return other.isFirstReport ? other.description : nil
    }
}

/// An error for a schema whose version differs from this binary's.
struct OtherSchema: Error, CustomStringConvertible {
    let found: Int32
    let wanted: Int32
    /// Whether this is the first time in the process.
    let isFirstReport: Bool

    var description: String {
        "the schema is at version \(found) and this binary's is \(wanted):"
            + " every command and every read is refused from now on"
    }
}
