import Ledger
import Postgres
import Testing

@testable import LedgerPostgres

/// The texts of a batch's statements for one tenant on Citus.
@Suite struct TenantCallsTests {
    private static let tenant = TenantID.default

    private static func text(of call: Call) -> String {
        TenantCalls().calls([call], of: tenant).first?.statement.sql ?? ""
    }

    @Test
    func `rows of several keys have the tenant as one value, and each table is restricted to it`()
        throws
    {
        let statement = RowsStatement(
            "a_test", ["tenant_id": "text", "id": "uuid"], ordinal: "n"
        ) { rows in
            """
            SELECT k.n FROM \(rows)
            CROSS JOIN LATERAL (
                SELECT * FROM accounts
                WHERE tenant_id IS NOT DISTINCT FROM k.tenant_id AND account_id = k.id OFFSET 0) a
            """
        }
        let call = statement.call(rows: 2, [.texts(["default", "default"]), .uuids([1, 2])])
        let made = try #require(TenantCalls().calls([call], of: Self.tenant).first)
        #expect(
            made.statement.sql == """
                SELECT k.n FROM (SELECT $1::text AS tenant_id, unnest($2::uuid[]) AS id, \
                generate_series(1::bigint, cardinality($2::uuid[])) AS n) AS k
                CROSS JOIN LATERAL (
                    SELECT * FROM accounts
                    WHERE tenant_id = $1 AND account_id = k.id OFFSET 0) a
                """)
        #expect(made.parameters == [.text("default"), .uuids([1, 2])])
        #expect(made.statement.name != call.statement.name)
    }

    @Test func `a row of one key keeps its values`() throws {
        let statement = RowsStatement("a_test", ["tenant_id": "text", "id": "uuid"]) { rows in
            """
            UPDATE accounts a SET next_seq = 1 FROM \(rows)
            CROSS JOIN LATERAL (
                SELECT ctid FROM accounts WHERE tenant_id = k.tenant_id OFFSET 0) place
            WHERE a.ctid = place.ctid
            """
        }
        let made = Self.text(of: statement.call(rows: 1, [.texts(["default"]), .uuids([1])]))
        #expect(made.contains("AS k (tenant_id, id)"))
        #expect(made.contains("WHERE tenant_id = $1 OFFSET 0"))
        #expect(made.hasSuffix("WHERE a.tenant_id = $1 AND a.ctid = place.ctid"))
    }

    @Test func `a single row is inserted as values, which Citus routes`() {
        let statement = RowsStatement("a_test", ["tenant_id": "text", "id": "uuid"]) { rows in
            "INSERT INTO names (tenant_id, id) SELECT * FROM \(rows)"
        }
        let columns: [Parameter] = [.texts(["default"]), .uuids([1])]
        #expect(
            Self.text(of: statement.call(rows: 1, columns))
                == "INSERT INTO names (tenant_id, id) VALUES ($1::text, $2::uuid)")
        let dated = RowsStatement("another_test", ["tenant_id": "text", "id": "uuid"]) { rows in
            "INSERT INTO names SELECT *, $3::timestamptz FROM \(rows) ON CONFLICT DO NOTHING"
        }
        #expect(
            Self.text(of: dated.call(rows: 1, columns, [.timestamp(0)])) == """
                INSERT INTO names VALUES ($1::text, $2::uuid, $3::timestamptz) \
                ON CONFLICT DO NOTHING
                """)
    }

    @Test func `a row with a text of its own is written by that text on both engines`() {
        let text = "UPDATE names SET n = $3::bigint WHERE tenant_id = $1::text AND id = $2::uuid"
        let statement = RowsStatement(
            "a_test", ["tenant_id": "text", "id": "uuid", "n": "bigint"], single: text
        ) { rows in
            "UPDATE names t SET n = k.n FROM \(rows) WHERE t.tenant_id = k.tenant_id AND t.id = k.id"
        }
        let one = statement.call(rows: 1, [.texts(["default"]), .uuids([1]), .int8s([7])])
        #expect(one.statement.sql == text)
        #expect(one.parameters == [.text("default"), .uuid(1), .int8(7)])
        #expect(TenantCalls().calls([one], of: Self.tenant).map(\.statement) == [one.statement])
        let two = statement.call(
            rows: 2, [.texts(["default", "acme"]), .uuids([1, 2]), .int8s([7, 8])])
        #expect(two.statement.sql.contains("FROM (SELECT unnest($1::text[])"))
        #expect(two.statement.name != one.statement.name)
    }

    @Test func `a few rows are inserted one by one, and more by one statement`() {
        let statement = RowsStatement("a_test", ["tenant_id": "text", "n": "bigint"]) { rows in
            "INSERT INTO names (tenant_id, n, at) SELECT *, $3::timestamptz FROM \(rows)"
        }
        func calls(_ count: Int) -> [Call] {
            let numbers = (0..<count).map { $0 == 1 ? nil : Int64($0) }
            return TenantCalls().calls(
                [
                    statement.call(
                        rows: count,
                        [
                            .texts(numbers.map { _ in "default" }), .optionalInt8s(numbers),
                        ], [.timestamp(7)])
                ], of: Self.tenant)
        }
        let three = calls(3)
        #expect(
            Set(three.map(\.statement.sql)) == [
                """
                INSERT INTO names (tenant_id, n, at) VALUES ($1::text, $2::bigint, $3::timestamptz)
                """
            ])
        #expect(
            three.map(\.parameters) == [
                [.text("default"), .int8(0), .timestamp(7)],
                [.text("default"), .null, .timestamp(7)],
                [.text("default"), .int8(2), .timestamp(7)],
            ])
        #expect(calls(4).count == 1)
        #expect(calls(4).first?.parameters.first == .text("default"))
    }

    @Test func `the accounts merged with named ones are looked up in one tenant`() {
        let made = Self.text(of: Call(Statement("a_test", AccountLoad.family), [.texts([])]))
        #expect(!made.contains("::text[], $2"))
        #expect(!made.contains(/tenant_id (=|IS NOT DISTINCT FROM) [a-z]/))
        #expect(made.matches(of: /tenant_id = \$1/).count == 4)
    }

    @Test func `a statement with a scalar tenant stays as it is`() {
        let call = Call(
            Statement("a_test", "SELECT FROM events WHERE tenant_id = $1"), [.text("other")])
        let made = TenantCalls().calls([call], of: Self.tenant)
        #expect(made.map(\.statement) == [call.statement])
        #expect(made.map(\.parameters) == [call.parameters])
    }
}
