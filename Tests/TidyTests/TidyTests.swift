import Testing

/// The project's rules that no compiler and no formatter checks.
@Suite struct TidyTests {
    /// The allowed imports of each module: only of modules above it.
    private static let imports: [String: Set<String>] = [
        "Encodings": [],
        "JSON": ["Encodings"],
        "Cryptography": ["Encodings", "JSON"],
        "OneTimePasswords": ["Cryptography", "Encodings"],
        "Passwords": ["Cryptography", "Encodings", "UnicodeText"],
        "Passkeys": ["Cryptography", "Encodings", "JSON"],
        "QRCodes": [],
        "PageAssets": ["Cryptography", "Encodings"],
        "HTTPClient": [],
        "OpenID": ["Cryptography", "Encodings", "HTTPClient", "JSON"],
        "StandardWebhooks": ["Cryptography", "Encodings", "HTTPClient"],
        "BlockingCalls": [],
        "CommandLine": [],
        "Postgres": ["BlockingCalls"],
        "HTTP": [],
        "DevelopmentIdentityProvider": ["Cryptography", "Encodings", "HTTP", "JSON", "OpenID"],
        "Sockets": [],
        "TransparencyLog": ["Cryptography", "Encodings"],
        "DurableFiles": [],
        "ChildProcesses": [],
        "LoopbackServers": ["ChildProcesses"],
        "SoftwareAuthenticators": [
            "ChildProcesses", "Cryptography", "Encodings", "JSON", "Passkeys",
        ],
        "Archive": [],
        "UnicodeText": [],
        "Addresses": ["UnicodeText"],
        "Ledger": ["Encodings", "JSON"],
        "LedgerClient": [],
        "LedgerMessages": ["Encodings", "Ledger"],
        "LedgerWire": [],
        "LedgerExport": [
            "Archive", "Cryptography", "Encodings", "JSON", "Ledger", "PageAssets",
            "TransparencyLog",
        ],
        "LedgerEngine": [
            "Cryptography", "DurableFiles", "Encodings", "JSON", "Ledger", "LedgerMessages",
            "StandardWebhooks", "TransparencyLog",
        ],
        "LedgerPostgres": [
            "BlockingCalls", "Cryptography", "Encodings", "Ledger", "LedgerEngine",
            "LedgerMessages", "Migrations", "Postgres", "StandardWebhooks", "TransparencyLog",
        ],
        "LedgerChannels": [
            "Encodings", "HTTPClient", "JSON", "Ledger", "LedgerEngine", "LedgerMessages",
            "StandardWebhooks",
        ],
        "LedgerAudit": [
            "Cryptography", "DurableFiles", "JSON", "Ledger", "LedgerEngine", "LedgerExport",
            "LedgerPostgres", "Postgres", "TransparencyLog",
        ],
        "LedgerSignIn": [
            "Addresses", "BlockingCalls", "Cryptography", "Encodings", "HTTPClient", "JSON",
            "Ledger", "LedgerMessages", "OneTimePasswords", "OpenID", "Passkeys", "Passwords",
            "StandardWebhooks",
        ],
        "LedgerImport": ["Encodings", "JSON", "Ledger", "LedgerSignIn", "Passwords"],
        "LedgerAPI": [
            "BlockingCalls", "Cryptography", "Encodings", "HTTP", "JSON", "Ledger",
            "LedgerMessages", "LedgerSignIn", "LedgerWire", "OpenID", "PageAssets", "Passkeys",
            "Passwords", "QRCodes", "TransparencyLog", "UnicodeText",
        ],
        "ledger-bench-load": ["Passwords", "Sockets"],
        "LedgerTestSupport": [
            "ChildProcesses", "Cryptography", "DevelopmentIdentityProvider", "Encodings", "HTTP",
            "JSON", "Ledger", "LedgerEngine", "LedgerMessages", "LedgerPostgres", "LedgerWire",
            "OneTimePasswords", "OpenID", "Postgres", "TransparencyLog",
        ],
        "ledger-load": [
            "Cryptography", "Encodings", "Ledger", "LedgerEngine", "LedgerPostgres",
            "LedgerTestSupport",
        ],
        "ledger-fuzz": [
            "Addresses", "Cryptography", "DevelopmentIdentityProvider", "Encodings", "HTTP", "JSON",
            "BlockingCalls", "Ledger", "LedgerAPI", "LedgerExport", "LedgerImport",
            "LedgerSignIn", "LedgerTestSupport", "OpenID", "Passkeys", "Passwords",
            "Postgres", "Sockets", "TransparencyLog",
        ],
    ]
    private static let ours: Set<String> = Set(imports.keys).union(["Migrations"])
    /// The wrappers of C libraries, the client, whose stores call the operating system, and the simulator, because
    /// running a task's job by hand is unsafe.
    private static let wrappers: Set<String> = [
        "Addresses", "Archive", "BlockingCalls", "ChildProcesses", "Cryptography", "DurableFiles",
        "HTTP", "HTTPClient", "JSON", "LedgerClient", "LoopbackServers", "OneTimePasswords",
        "PageAssets",
        "Passkeys", "Passwords", "Postgres", "QRCodes", "Sockets", "UnicodeText",
        "CryptographyTests", "HTTPTests", "OpenIDTests", "PasswordsTests", "PostgresTests",
        "SimulationTests",
    ]

    @Test func `no file has more than 400 lines`() throws {
        for file in try SourceTree(["Sources", "Tests"]).files {
            #expect(file.lines.count <= 400, "\(file) has \(file.lines.count) lines")
        }
    }

    @Test func `modules import only from above themselves`() throws {
        let files = try SourceTree(["Sources"]).files
        #expect(files.count > 100)
        // The executable is below everything.
        for file in files where file.module != "account-ledger" {
            let allowed = try #require(Self.imports[file.module], "\(file.module) is not listed")
            for name in file.lines.compactMap(importedModule) where Self.ours.contains(name) {
                #expect(allowed.contains(name), "\(file) imports \(name)")
            }
        }
    }

    @Test func `the model imports nothing that does input or output`() throws {
        for file in try SourceTree(["Sources/Ledger"]).files {
            let imported = file.lines.compactMap(importedModule)
            #expect(
                Set(imported).isSubset(of: ["Encodings", "FoundationEssentials", "JSON"]),
                "\(file): \(imported)")
        }
    }

    @Test func `unsafe code is in the wrappers of C libraries only`() throws {
        for file in try SourceTree(["Sources", "Tests"]).files
        where !Self.wrappers.contains(file.module) && file.module != "TidyTests" {
            for (number, line) in code(of: file) {
                let words = line.split { !$0.isLetter && $0 != "_" && $0 != "-" }
                #expect(!words.contains("unsafe"), "\(file):\(number)")
            }
        }
    }

    @Test func `unsafe code of the client is in its stores only`() throws {
        for file in try SourceTree(["Sources/LedgerClient"]).files
        where !["PrivateFile.swift", "KeychainTokenStore.swift"].contains(
            where: file.path.hasSuffix)
        {
            for (number, line) in code(of: file) {
                #expect(!line.contains("unsafe"), "\(file):\(number)")
            }
        }
    }

    /// exit(3) runs clean-up code of libraries while other threads still use them, which sometimes crashes.
    @Test func `the program has a single way to exit`() throws {
        for file in try SourceTree(["Sources"]).files
        where ["account-ledger", "ledger-fuzz"].contains(file.module) {
            for (number, line) in code(of: file) {
                let words = line.split { !$0.isLetter && $0 != "_" && $0 != "(" }
                #expect(
                    !words.contains { $0.hasPrefix("exit(") || $0.contains("(exit(") },
                    "\(file):\(number)")
            }
        }
    }

    @Test func `unchecked sendability states its protection`() throws {
        for file in try SourceTree(["Sources", "Tests"]).files where file.module != "TidyTests" {
            for (index, line) in file.lines.enumerated()
            where line.contains("@unchecked Sendable") || line.contains("nonisolated(unsafe)") {
                let comment = file.lines[..<index].reversed().prefix {
                    $0.drop { $0 == " " }.hasPrefix("//")
                }
                let isSaid = comment.contains { $0.contains("// Protected by ") }
                #expect(isSaid || line.hasPrefix("//"), "\(file):\(index + 1)")
            }
        }
    }

    @Test func `package declarations are documented`() throws {
        let kinds = ["func", "struct", "enum", "class", "actor", "protocol", "init", "typealias"]
        for file in try SourceTree(["Sources"]).files {
            for (index, line) in file.lines.enumerated() {
                let words = line.split(separator: " ").map { $0.prefix { $0.isLetter } }
                guard words.first == "package" || words.first == "public",
                    words.dropFirst().prefix(3).contains(where: { kinds.contains(String($0)) }),
                    !line.contains(" let "), !isRequirement(line)
                else { continue }
                #expect(isDocumented(index, in: file), "\(file):\(index + 1)")
            }
        }
    }

    private func importedModule(_ line: Substring) -> String? {
        let words = line.split(separator: " ")
        guard let index = words.firstIndex(of: "import"), index <= 1, words.count == index + 2
        else { return nil }
        return String(words[index + 1])
    }

    /// The lines that are not comments, with their numbers.
    private func code(of file: SourceTree.File) -> [(number: Int, line: Substring)] {
        file.lines.enumerated().compactMap { index, line in
            let start = line.drop { $0 == " " }
            return start.hasPrefix("//") ? nil : (number: index + 1, line: line)
        }
    }

    /// Checks whether a line implements a requirement, which its protocol documents.
    private func isRequirement(_ line: Substring) -> Bool {
        [
            "static func <", "static func ==", "func hash(into", "init(from", "func encode(to",
            "init(details:", "func next() -> UInt64", "func submit(_ command:",
            "func identities(", "func contains(_ tenant:", "func latestCheckpoint(",
            "func checkpoints(", "func checkpointKeys(", "func inclusion(", "func consistency(",
            "func logState(", "func write(_ signed:", "func add(",
        ].contains { line.contains($0) }
    }

    private func isDocumented(_ index: Int, in file: SourceTree.File) -> Bool {
        for line in file.lines[..<index].reversed() {
            let start = line.drop { $0 == " " }
            if start.hasPrefix("///") { return true }
            guard start.hasPrefix("@") || start.hasPrefix("//") else { return false }
        }
        return false
    }
}
