import Foundation
import Testing

/// The code of the documentation is that of the examples, which are compiled and run.
struct DocumentationTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    }

    /// Returns the lines without their indentation.
    private func lines(_ text: some StringProtocol) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
    }

    @Test func `the code of the tutorial is that of the example`() throws {
        let tutorial = try text("Sources/LedgerClient/LedgerClient.docc/Tutorial.md")
        let example = lines(try text("Examples/CommandLine/Tutorial.swift"))
            .joined(separator: "\n")
        let parts = tutorial.split(separator: "```").map(String.init)
        let blocks = parts.filter { $0.hasPrefix("swift\n") }
        #expect(blocks.count == 6)
        for block in blocks {
            let code = lines(block.dropFirst("swift".count)).joined(separator: "\n")
            #expect(example.contains(code), "\(code)")
        }
    }

    /// A symbol link that leads nowhere is a warning of DocC, which does not run here.
    @Test func `the catalogue names types of the client`() throws {
        let catalogue = try text("Sources/LedgerClient/LedgerClient.docc/LedgerClient.md")
        let sources = Self.root.appending(path: "Sources/LedgerClient")
        let declared = try FileManager.default.subpathsOfDirectory(atPath: sources.path)
            .filter { $0.hasSuffix(".swift") }
            .map { try text("Sources/LedgerClient/\($0)") }.joined()
        let names = catalogue.matches(of: /- ``(\w+)``/).map(\.output.1)
        #expect(names.count > 15)
        for name in names {
            let isThere = ["final class", "struct", "enum", "actor", "protocol"].contains {
                declared.contains("public \($0) \(name)")
            }
            #expect(isThere, "\(name)")
        }
    }

    @Test func `the reference lists every call of a session`() throws {
        let page = try text("docs/swift-client.md")
        let folder = "Sources/LedgerClient/Session"
        let source = try [
            "", "+SignIn", "+Links", "+Browser", "+Passkeys", "+Factors", "+Addresses",
        ].map {
            try text("\(folder)/AuthSession\($0).swift")
        }.joined()
        let calls = source.matches(of: /public (?:nonisolated )?func (\w+)\(/).map(\.output.1)
        #expect(calls.count > 35)
        for call in calls { #expect(page.contains("`\(call)("), "\(call)") }
    }

    @Test func `the reference lists every code of the client`() throws {
        let page = try text("docs/swift-client.md")
        let source = try text("Sources/LedgerClient/Errors/LedgerError.swift")
        let part = try #require(source.split(separator: "// The codes of this client.").last)
        let codes = part.matches(of: /Self\("(\w+)"\)/).map(\.output.1)
        #expect(codes.count == 9)
        for code in codes { #expect(page.contains("| `\(code)` |"), "\(code)") }
    }
}
