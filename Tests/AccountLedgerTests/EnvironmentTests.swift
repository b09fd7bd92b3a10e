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

    @Test(arguments: [
        ("LEDGER_MODE", "prod"), ("LEDGER_LISTEN", "8080"), ("LEDGER_LISTEN", "127.0.0.1:99999"),
        ("LEDGER_ADMIN_LISTEN", "nowhere"), ("LEDGER_TRUSTED_PROXIES", "10.0.0.0/99"),
        ("LEDGER_CORS_ORIGINS", "*"), ("LEDGER_ACCESS_TOKEN_SECONDS", "ten"),
        ("LEDGER_ACCESS_TOKEN_SECONDS", "0"), ("LEDGER_LINK_LIMIT", "-1"),
        ("LEDGER_QUEUE_LIMIT", "0"), ("LEDGER_LOG_LEVEL", "loud"), ("LEDGER_DOCS", "maybe"),
        ("LEDGER_ERASE_NEEDS_TWO", "true"),
        ("DATABASE_URL", ""), ("LEDGER_KEYS", ""),
    ])
    func `a wrong value is refused with one line that names it`(name: String, value: String) throws
    {
        let right = [
            "DATABASE_URL": "postgres://a", "LEDGER_KEYS": "/keys", "LEDGER_MODE": "development",
        ]
        #expect(throws: Never.self) { try ServeConfiguration(Environment(right)) }
        let error = #expect(throws: Fault.self) {
            try ServeConfiguration(Environment(right.merging([name: value]) { $1 }))
        }
        let line = try #require(error).description
        #expect(line.contains(name) && !line.contains { $0.isNewline }, "\(line)")
    }
}
