import CommandLine
import Testing

@testable import account_ledger

/// Settings read from environment variables.
@Suite struct EnvironmentTests {
    @Test func `a setting that is unset or empty has its default`() throws {
        #expect(try Environment([:]).number(.linkLimit) == 5)
        #expect(try Environment(["LEDGER_LINK_LIMIT": ""]).number(.linkLimit) == 5)
        #expect(try Environment(["LEDGER_LINK_LIMIT": "7"]).number(.linkLimit) == 7)
    }

    @Test(arguments: ["0", "1001", "-1", "5.0", "five", " 5"])
    func `a number outside of its range is refused with the range`(text: String) throws {
        let error = #expect(throws: Fault.self) {
            try Environment(["LEDGER_LINK_LIMIT": text]).number(.linkLimit)
        }
        let line = try #require(error).description
        #expect(line.contains("LEDGER_LINK_LIMIT") && line.contains("from 1 to 1000"))
    }

    @Test func `every default is in its range`() throws {
        for setting in Setting.allCases where setting.range != nil {
            #expect(throws: Never.self) { try Environment([:]).number(setting) }
        }
    }

    @Test func `a required setting that is missing is named`() throws {
        let error = #expect(throws: Fault.self) { try Environment([:]).databaseURL }
        #expect(try #require(error).description.contains("DATABASE_URL"))
    }

    @Test func `the schema is migrated by the runtime login unless another is given`() throws {
        let runtime = Environment(["DATABASE_URL": "postgres://a"])
        #expect(try runtime.migrateURL == "postgres://a")
        #expect(
            try runtime.setting(.migrateURL, to: "postgres://b").migrateURL == "postgres://b")
    }

    @Test func `misspelled settings are found`() {
        let environment = Environment(["LEDGER_LISTEM": "x", "LEDGER_LISTEN": "y", "HOME": "z"])
        #expect(environment.unknownNames == ["LEDGER_LISTEM"])
    }
}
