import Ledger
import Testing

@testable import LedgerAPI

/// The parts that HTTP surfaces share have no words of one of them; `FolderTests` holds the same for
/// types.
@Suite struct SurfaceTests {
    private static let folder = "Sources/LedgerAPI/"
    /// Words of shared parts that the native surface has as well, and why that is right.
    private static let exceptions = [
        "OpenAPI/Schema.swift: \"type\"",  // a keyword of JSON Schema
        "Pipeline/Readiness.swift: \"name\"",  // of a check, which the admin surface shows
        "Requests/AcceptHeader.swift: \"q\"",  // the weight of RFC 9110, section 12.4.2
    ]

    @Test func `no shared part names an input or a path of the native surface`() throws {
        let shared = try SourceTree(["Sources/LedgerAPI"]).files.filter {
            !$0.path.hasPrefix(Self.folder + "Native/")
        }
        #expect(shared.count > 20)
        let found = shared.flatMap { file in
            let text = file.lines.joined(separator: "\n")
            return Self.words.filter { text.contains($0) }.map {
                "\(file.path.dropFirst(Self.folder.count)): \($0)"
            }
        }
        #expect(found.sorted() == Self.exceptions)
    }

    /// The header fields, and in quotation marks the parameters and members, that routes read; and
    /// the first folders of their paths.
    private static let words: Set<String> = {
        var words: Set<String> = []
        for route in RouteTable.routes {
            for path in NativeSurface().paths(of: route) {
                let parts = path.split(separator: "/")
                words.insert(parts.count > 1 ? "/\(parts[0])/" : path)
            }
            for parameter in route.operation.parameters {
                let isField = parameter.location == .header
                words.insert(isField ? parameter.name : "\"\(parameter.name)\"")
            }
            for member in route.operation.body?.members ?? [] { words.insert("\"\(member.name)\"") }
        }
        return words
    }()
}
