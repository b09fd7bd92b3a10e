import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerPostgres

/// Rows that are passed to statements as arrays.
@Suite struct ArrayRowsTests {
    @Test func `arrays are rows in their order, with nulls where one is shorter`() async throws {
        let rows = ArrayRows.sql(["word": "text", "number": "bigint"], from: 2, ordinal: "n")
        let statement = Statement(
            "array_rows",
            "SELECT $1::text || k.n || k.word || coalesce(k.number::text, '-') FROM \(rows) AS k")
        try await ScratchDatabase.with(isMigrated: false) { database in
            let session = Session(url: database.superuserURL, applicationName: "a test")
            let found = try await session.run { connection in
                func texts(_ words: [String], _ numbers: [Int64]) throws -> [String] {
                    let result = try connection.query(
                        statement, [.text("#"), .texts(words), .int8s(numbers)])
                    return try (0..<result.rowCount).map { try result.text($0, 0) }
                }
                return [
                    try texts(["b", "a"], [7, 8]), try texts(["b", "a"], [7]),
                    try texts(["b"], [7]), try texts([], []),
                ]
            }
            await session.close()
            #expect(found == [["#1b7", "#2a8"], ["#1b7", "#2a-"], ["#1b7"], []])
        }
    }
}
