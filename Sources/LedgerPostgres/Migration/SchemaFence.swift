import LedgerEngine
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
}
