import Postgres
import Testing

@Suite struct `Quoting` {
    static let names = [
        "plain", "With Space", "a\"b", "a\"\u{301}b", "'; DROP TABLE x; --", "back\\slash", "ü",
        "a'b", "'\u{301}", "\\'",
    ]

    @Test(arguments: names)
    func `a quoted literal equals the text under either string syntax`(
        text: String
    ) throws {
        for setting in ["on", "off"] {
            let connection = try TestServer.connect(
                """
                SET standard_conforming_strings = \(setting);
                CREATE TEMP TABLE texts (t text);
                INSERT INTO texts VALUES (\(quoteLiteral(text)));
                """)
            let result = try connection.query(Statement("read", "SELECT t FROM texts"))
            #expect(result.rowCount == 1)
            #expect(try Array(result.text(0, 0).utf8) == Array(text.utf8))
        }
    }

    @Test(arguments: names)
    func `a quoted identifier has exactly the given name`(name: String) throws {
        let connection = try TestServer.connect(
            "CREATE TEMP TABLE t (\(quoteIdentifier(name)) int)")
        let result = try connection.query(
            Statement(
                "columns",
                """
                SELECT attname FROM pg_attribute
                WHERE attrelid = 'pg_temp.t'::regclass AND attnum > 0
                """))
        #expect(try Array(result.text(0, 0).utf8) == Array(name.utf8))
    }
}
