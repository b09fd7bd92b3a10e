import Ledger
import Testing

@testable import LedgerAPI

/// The parts that HTTP surfaces share have no words of one of them.
@Suite struct SurfaceTests {
    private static let folder = "Sources/LedgerAPI/"
    /// Words of shared parts that the native surface has as well, and why that is right.
    private static let exceptions = [
        "OpenAPI/Schema.swift: \"type\"",  // a keyword of JSON Schema
        "Pipeline/APIServices.swift: AccessTokens",  // one object with the services of all surfaces
        "Requests/AcceptHeader.swift: \"q\"",  // the weight of RFC 9110, section 12.4.2
    ]

    /// The shared files; the admin listener is none, and answers in the native surface's words.
    private static func shared() throws -> [SourceTree.File] {
        let files = try SourceTree(["Sources/LedgerAPI"]).files.filter { file in
            !["Native/", "Admin/"].contains { file.path.hasPrefix(folder + $0) }
        }
        try #require(files.count > 20)
        return files
    }

    @Test func `no shared part names an input, a path or a type of the native surface`() throws {
        let words = Self.inputs.union(try Self.types())
        var found: [String] = []
        for file in try Self.shared() {
            let text = file.lines.joined(separator: "\n")
            found += words.filter { names($0, in: text) }
                .map { "\(file.path.dropFirst(Self.folder.count)): \($0)" }
        }
        #expect(found.sorted() == Self.exceptions)
    }

    /// The header fields, and in quotation marks the parameters and members, that routes read; and
    /// the first folders of their paths.
    private static var inputs: Set<String> {
        var words: Set<String> = []
        for route in RouteTable.routes {
            for path in NativeSurface().paths(of: route) { words.insert(firstFolder(of: path)) }
            for parameter in route.operation.parameters {
                words.insert(
                    parameter.location == .header ? parameter.name : "\"\(parameter.name)\"")
            }
            for member in route.operation.body?.members ?? [] { words.insert("\"\(member.name)\"") }
        }
        return words
    }

    /// The types that other files can name.
    private static func types() throws -> [String] {
        let declaration = /^(?:package |final )*(?:struct|enum|class|protocol) (\w+)/
        let types = try SourceTree([folder + "Native"]).files.flatMap(\.lines)
            .compactMap { $0.prefixMatch(of: declaration).map { String($0.output.1) } }
        try #require(types.count > 50)
        return types
    }

    /// Checks whether a text has a word that is not a part of another one.
    private func names(_ word: String, in text: String) -> Bool {
        text.ranges(of: word).contains { range in
            let before = text[..<range.lowerBound].last, after = text[range.upperBound...].first
            let isWhole = { (edge: Character?, other: Character?) in
                edge?.isLetter != true || other?.isLetter != true
            }
            return isWhole(word.first, before) && isWhole(word.last, after)
        }
    }

    /// Returns `/v1/` of `/v1/account`, and `/docs` of `/docs`.
    private static func firstFolder(of path: String) -> String {
        let parts = path.split(separator: "/")
        return parts.count > 1 ? "/\(parts[0])/" : path
    }
}
