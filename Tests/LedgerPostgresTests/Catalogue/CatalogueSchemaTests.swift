import LedgerTestSupport
import Migrations
import Testing

@testable import LedgerPostgres

/// The catalogue and the migrated database have the same tables and columns.
@Suite struct CatalogueSchemaTests {
    @Test func `every column of the database is in the catalogue, with its type, and no other`()
        async throws
    {
        try await ScratchDatabase.with { database in
            let stored = try await database.asSuperuser.texts(
                """
                SELECT format('%s.%s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod))
                    || CASE WHEN a.attnotnull OR c.relkind = 'v' THEN '' ELSE ' null' END
                FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
                WHERE c.relnamespace = 'public'::regnamespace AND c.relkind NOT IN ('i', 'S')
                    AND a.attnum > 0 AND NOT a.attisdropped
                """)
            let expected = Catalogue.tables.flatMap { table in
                table.columns.flatMap { column in
                    let text = "\(column.name) \(column.type)"
                    let null = column.attributes.contains(.nullable) ? " null" : ""
                    return table.isReadModel
                        ? ["\(table.name).\(text)", "\(table.name)_1.\(text)\(null)"]
                        : ["\(table.name).\(text)\(null)"]
                }
            }
            #expect(Set(stored).subtracting(expected) == [], "missing in the catalogue")
            #expect(Set(expected).subtracting(stored) == [], "missing in the database")
            #expect(stored.count == expected.count)
        }
    }

    @Test func `attributes do not contradict each other or the guards`() {
        for table in Catalogue.tables {
            let personal = Set(table.columns(.personal))
            #expect(personal.isDisjoint(with: table.columns(.auditor)), "\(table.name)")
            #expect(personal.isEmpty || table.columns(.account).count == 1, "\(table.name)")
            let verified = Set(table.columns(.verified)).subtracting(personal)
            #expect(verified.isSubset(of: table.columns(.auditor)), "\(table.name)")
            if (GuardedTables.appendOnly + GuardedTables.erasable).contains(table.name) {
                #expect(table.server == .append && table.columns(.serverUpdates) == [])
            }
        }
        let names = Catalogue.tables.map(\.name)
        #expect(Set(names).isSuperset(of: GuardedTables.all))
        #expect(Set(names).count == names.count)
    }
}
