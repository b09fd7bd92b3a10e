import Ledger
import Postgres
import Synchronization

/// The statements of a batch, or of waiting reads, for one tenant on Citus: their texts with the tenant as a scalar.
///
/// Plain Postgres looks up the keys of many tenants with one statement, in which a tenant is a column of the keys.
/// Citus needs `tenant_id = $1` for each table, so the same text is given that form.
final class TenantCalls: Sendable {
    /// The statements made so far, by the names of the former; nil for one that has the form already.
    private let made = Mutex<[String: Statement?]>([:])
    /// The inserts of a single row made so far, by the names of those of several; nil for other statements.
    private let inserts = Mutex<[String: Statement?]>([:])
    /// The number of rows that are inserted one by one: more are copied faster.
    private static let insertedMax = 3

    /// Returns the calls in the form for a tenant, whose name replaces a first parameter with several.
    ///
    /// The insert of a few rows becomes a call for each.
    func calls(_ calls: [Call], of tenant: TenantID) -> [Call] {
        calls.flatMap { call in
            if let rows = rows(of: call) { return rows }
            guard let statement = statement(for: call.statement) else { return [call] }
            return [Call(statement, [.text(tenant.description)] + call.parameters.dropFirst())]
        }
    }

    /// Returns a call for each row that is inserted; nil for many rows, and for a statement that does something else.
    private func rows(of call: Call) -> [Call]? {
        let insert = inserts.withLock { inserts in
            if let known = inserts[call.statement.name] { return known }
            let made = Self.singleRow(of: call.statement.sql).map {
                Statement("\(call.statement.name)_row_of_tenant", $0)
            }
            inserts[call.statement.name] = .some(made)
            return made
        }
        guard let insert, case .texts(let tenants) = call.parameters.first,
            tenants.count <= Self.insertedMax
        else { return nil }
        return tenants.indices.map { row in
            Call(insert, call.parameters.map { $0.element(row) ?? $0 })
        }
    }

    /// Returns the text for one row of an insert of several (``RowsStatement``); nil for any other statement.
    static func singleRow(of sql: String) -> String? {
        var text = sql
        text.replace(
            /SELECT \*(, \$\d+::[a-z]+)?\s+FROM \(SELECT ((?:unnest\([^()]*\)[^()]*)+)\) AS k/
        ) { match in
            let values = match.2.replacing(/unnest\((\$\d+::[a-z]+)\[\]\) AS \w+/) { $0.1 }
            return "VALUES (\(values)\(match.1 ?? ""))"
        }
        return text == sql || !sql.hasPrefix("INSERT INTO ") ? nil : text
    }

    private func statement(for former: Statement) -> Statement? {
        made.withLock { made in
            if let known = made[former.name] { return known }
            let statement =
                former == NoticeWrites.insert
                ? NoticeWrites.insertOnCitus
                : Self.text(of: former.sql).map { Statement("\(former.name)_of_tenant", $0) }
            made[former.name] = .some(statement)
            return statement
        }
    }

    /// Returns a text with a scalar tenant; nil for one that has it already.
    static func text(of sql: String) -> String? {
        var text = sql
        // The rows: the tenant is a column with one value.
        text.replace("unnest($1::text[]) AS tenant_id", with: "$1::text AS tenant_id")
        if let type = text.firstMatch(of: /unnest\(\$2::([a-z]+)\[\]\)/)?.1 {
            text.replace("cardinality($1::text[])", with: "cardinality($2::\(type)[])")
        }
        text.replace(
            /unnest\(\$\d::text\[\], ([^()]*)\)\s+AS k \(tenant_id, ([^()]*)\)/
        ) { match in
            "(SELECT $1::text AS tenant_id, n.* FROM unnest(\(match.1)) AS n (\(match.2))) AS k"
        }
        text.replace(
            /unnest\(\$1::text\[\], ([^()]*)\) WITH ORDINALITY\s+AS k \(tenant_id, ([^()]*)\)/
        ) { match in
            "unnest(\(match.1)) WITH ORDINALITY AS k (\(match.2))"
        }
        text.replace(
            /unnest\(\$\d::text\[\]\) AS t \(tenant_id\)/,
            with: "(SELECT $1::text AS tenant_id) AS t")
        // A single row: what is selected is copied, and a transaction with a copy is committed in two phases.
        text.replace(
            /SELECT \*(, \$\d+::[a-z]+)?\s+FROM \(VALUES \(([^()]*)\)\)\s+AS k \([^()]*\)/
        ) { match in
            "VALUES (\(match.2)\(match.1 ?? ""))"
        }
        // The tables: each is restricted to the tenant.
        text.replace(
            /tenant_id (?:=|IS NOT DISTINCT FROM) [fhktu]\.tenant_id/, with: "tenant_id = $1")
        text.replace(/WHERE ([a-z])\.ctid =/) { match in
            "WHERE \(match.1).tenant_id = $1 AND \(match.1).ctid ="
        }
        return text == sql || text.contains("$1::text[]") ? nil : text
    }
}
