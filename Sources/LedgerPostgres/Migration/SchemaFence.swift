import Postgres
import Synchronization

/// Refuses to work on the schema of another version than this binary's.
///
/// How commands are decided and how rows are read belongs to a version of the schema, so a process that
/// was left running while a newer one migrated works by rules that no longer hold. A batch reads the
/// version under the heads' lock, and a migration locks all heads until it is committed: nothing is
/// appended behind it by an older version.
package final class SchemaFence: Sendable {
    /// The schema's version; to be asked after what was read, which then was of this version or an older one.
    static let version = Statement(
        "schema_version", "SELECT max(version) FROM public.ledger_migrations")

    private let wanted: Int32
    /// The other version that was met last; 0 for none.
    private let met = Atomic<Int32>(0)

    /// Makes a fence; what one process works with shares one, so that the reason is told once.
    package init(version: Int = Migration.embedded.count) {
        wanted = Int32(version)
    }

    /// Checks the version in the result of a statement that asks for it.
    ///
    /// - Throws: `OtherSchema`, or `PostgresError` when the result is none of such a statement.
    func check(_ result: QueryResult, column: Int = 0) throws {
        let found = try result.optionalInt4(0, column) ?? 0
        guard found != wanted else { return }
        let last = met.exchange(found, ordering: .relaxed)
        throw OtherSchema(found: found, wanted: wanted, isNews: last != found)
    }

    /// What there is to be said about a failure: nothing when the fence has said it before.
    static func news(of error: any Error) -> String? {
        guard let other = error as? OtherSchema else { return "\(error)" }
        return other.isNews ? other.description : nil
    }
}

/// The schema is of another version than this binary.
struct OtherSchema: Error, CustomStringConvertible {
    let found: Int32
    let wanted: Int32
    /// Whether the process meets it for the first time.
    let isNews: Bool

    var description: String {
        "the schema is at version \(found) and this binary's is \(wanted):"
            + " every command and every read is refused from now on"
    }
}
