import Foundation
import Testing

/// The pages of the docs, their links, and the length of README.
@Suite struct DocsTests {
    /// A link in a page to another page or file.
    private struct Link: Hashable, CustomStringConvertible {
        let page: String
        /// The linked file, from the package's root.
        let path: String
        /// The heading within the file, after `#`; empty without one.
        let fragment: String

        var description: String { "\(page) -> \(path)#\(fragment)" }
    }

    private static let index = "docs/README.md"

    @Test func `every link leads to an existing file and heading`() throws {
        let links = try Self.pages().flatMap { Self.links(in: $0) }
        #expect(links.count > 300)
        var headings: [String: Set<String>] = [:]
        for link in links {
            #expect(SourceTree.exists(link.path), "\(link)")
            guard !link.fragment.isEmpty else { continue }
            let known = try headings[link.path] ?? Self.headings(of: link.path)
            headings[link.path] = known
            #expect(known.contains(link.fragment), "\(link)")
        }
    }

    @Test func `the index has every page`() throws {
        let pages = try Self.pages().filter { $0.path.hasPrefix("docs/") }
        let index = try #require(pages.first { $0.path == Self.index })
        let listed = Set(Self.links(in: index).map(\.path))
        let missing = pages.map(\.path).filter { $0 != Self.index && !listed.contains($0) }
        #expect(missing == [])
    }

    @Test func `README is short`() throws {
        #expect(try SourceTree.lines(of: "README.md").count <= 150)
    }

    private static func pages() throws -> [SourceTree.File] {
        let readme = SourceTree.File(
            path: "README.md", lines: try SourceTree.lines(of: "README.md"))
        return try SourceTree(["docs"], suffix: ".md").files + [readme]
    }

    private static func links(in page: SourceTree.File) -> [Link] {
        let folder = URL(fileURLWithPath: "/" + page.path).deletingLastPathComponent()
        return page.lines.joined(separator: "\n").matches(of: /\]\(([^)\s]+)\)/).compactMap {
            let parts = $0.output.1.split(
                separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            let path = String(parts[0])
            guard !path.contains(":") else { return nil }
            let target = path.isEmpty ? "/" + page.path : folder.appendingPathComponent(path).path
            return Link(
                page: page.path,
                path: String(URL(fileURLWithPath: target).standardizedFileURL.path.dropFirst()),
                fragment: parts.count > 1 ? String(parts[1]) : "")
        }
    }

    /// Returns the names by which links reach the headings of a page.
    private static func headings(of page: String) throws -> Set<String> {
        Set(
            try SourceTree.lines(of: page).filter { $0.hasPrefix("#") }.map { line in
                line.drop { $0 == "#" }.dropFirst().lowercased()
                    .replacing(/\[([^\]]*)\]\([^)]*\)/) { $0.output.1 }
                    .filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }
                    .replacing(" ", with: "-")
            })
    }
}
