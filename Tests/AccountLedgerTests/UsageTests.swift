import CommandLine
import Testing

@testable import account_ledger

/// Wrong command lines, and the help.
@Suite struct UsageTests {
    private static let someID = "01234567-89ab-7cde-8f01-23456789abcd"
    private static let case7 = ["--reason", "case 7", "--case", "T-7"]

    private static let wrong: [[String]] = [
        ["nonsense"], ["serve", "now"], ["export"], ["export", "--all"],
        ["export", "--all", "--output", "x", "--format", "xml"],
        ["export", "--all", "--output", "x", "--disclose"], ["verify", "--vkey", "x"],
        ["verify", "--offline", "x", "--vkey", "x"], ["verify", "--offline", "x", "--tenant", "a"],
        ["replay", "--bogus"], ["replay", "-x"], ["replay", "--account"],
        ["replay", "--account", "not-an-id"], ["replay"], ["replay", "--from", "x"],
        ["replay", "--from", "-1"], ["replay", "--format", "xml", "--from", "0"], ["rebuild"],
        ["rebuild", "nothing"], ["rebuild", "former_emails", "--online"], ["tenant", "create"],
        ["tenant", "create", "NOT A NAME"], ["keys"],
        ["keys", "api"], ["keys", "api", "lend"], ["access-log", "--from", "yesterday"],
        ["account"], ["account", "x"], ["account", someID, "--as-of", "now"],
        ["account", someID, "--diff", "1"], ["account", someID, "--diff", "1", "--tenant"],
        ["account", someID, "--diff", "1", "2", "--as-of", "4"], ["history", "x"],
        ["history", someID, "--format", "csv"], ["owner", "apple"], ["owner", "NO", "x"],
        ["owner", "apple", "x", "--as-of", "-1"], ["history", someID, "--disclose"],
        ["history", someID, "--reason", "case 7"],
        ["history", someID, "--disclose", "--reason", "\u{202E}a"],
        ["timeline"], ["timeline", "x"], ["timeline", someID, "--as-of", "1-2"],
        ["timeline", someID, "--disclose"],
        ["replay", "--from", "0", "--disclose"], ["replay", "--account", someID, "--disclose"],
        ["merge"], ["merge", someID], ["merge", someID, "x", "--dry-run"],
        ["merge", "x", someID, "--dry-run"], ["merge", someID, someID],
        ["merge", someID, someID, "--reason", "r"], ["merge", someID, someID, "--case", "c"],
        ["merge", someID, someID, "--reason", "r", "--case", "é"],
        ["merge", someID, someID, "--keep-absorbed", "NO"] + case7,
        ["merge", someID, someID, "--keep-absorbed", "apple,,google"] + case7,
        ["unlink-identity", someID, someID, "--stop", "--dry-run"],
        ["remove-factor", someID, someID, "--stop", "--dry-run"],
        ["unmerge"], ["unmerge", "x", "--dry-run"], ["unmerge", someID],
        ["unmerge", someID, "--reason", "r"],
        ["unmerge", someID, "--case", String(repeating: "c", count: 129), "--reason", "r"],
        ["relink"], ["relink", someID], ["relink", someID, "x", "--dry-run"],
        ["relink", "x", someID, "--dry-run"], ["relink", someID, someID],
        ["relink", someID, someID, "--reason", "r"], ["relink", someID, someID, "--case", "c"],
        ["erase"], ["erase", "x", "--reason", "r"], ["erase", someID],
        ["erase", someID, "--reason", "r", "--basis", "restored"],
        ["hold", "set", someID], ["hold", "lift", someID, "x", "--reason", "r"],
        ["hold", "lift", someID],
        ["conflicts", "--state", "closed"], ["conflicts", "--account", "x"], ["conflicts", "x"],
        ["conflicts", "--format", "csv"],
        ["search"], ["search", "ada@a.example"], ["search", "ada"], ["search", ""],
        ["search", someID, "--reason", "\u{202E}a"], ["search", someID, "--format", "csv"],
        ["search", "a\nb", "--reason", "r"],
        ["webhooks", "add", "http://example.org/"], ["webhooks", "add", "ftp://127.0.0.1/"],
        ["webhooks", "add", "https://example.org/", "--types", "Nothing"],
        ["webhooks", "add", "https://example.org/", "--from", "-1"], ["webhooks", "remove", "x"],
        ["webhooks", "replay", "0190a1b2-c3d4-7000-8000-000000000001"],
        ["webhooks", "rotate-secret", "0190a1b2-c3d4-7000-8000-000000000001", "--overlap", "x"],
    ]

    @Test(arguments: wrong)
    func `a usage error is one clear line, before anything is connected to`(
        words: [String]
    ) async throws {
        let error = await #expect(throws: UsageError.self) {
            try await Program.accountLedger.run(words, in: Environment([:]))
        }
        let line = try #require(error).description
        #expect(!line.contains { $0.isNewline } && line.contains("account-ledger"), "\(line)")
        // Terms of a search may be personal data.
        #expect(words.first != "search" || !line.contains("ada"), "\(line)")
    }

    @Test func `every subcommand explains itself`() throws {
        let program = Program.accountLedger
        #expect(program.words.count > 30)
        for words in program.words {
            let help = try program.help(about: words)
            #expect(help.contains("Usage: account-ledger \(words.joined(separator: " "))"))
        }
    }
}
