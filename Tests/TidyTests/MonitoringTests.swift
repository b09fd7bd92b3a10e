import Foundation
import Testing

/// The files of `monitoring/`: every metric in them exists, and every alert has a reason and a page.
@Suite struct MonitoringTests {
    @Test(arguments: [
        "monitoring/alerts.yml", "monitoring/alerts.test.yml", "monitoring/dashboard.json",
    ])
    func `every metric exists`(path: String) throws {
        let documented = try SourceTree.lines(of: "docs/metrics.md")
            .compactMap { $0.prefixMatch(of: /\| `([a-z_]+)` \|/).map { String($0.output.1) } }
        let used = Set(
            try SourceTree.lines(of: path).joined(separator: "\n")
                .matches(of: /\b(?:ledger|process)_[a-z_]+/)
                .map { String($0.output) }
                .map {
                    documented.contains($0) ? $0 : $0.replacing(/_(?:bucket|sum|count)$/, with: "")
                })
        #expect(used.count > 15)
        #expect(used.subtracting(documented).sorted() == [])
    }

    @Test func `the dashboard shows every metric`() throws {
        let text = try SourceTree.lines(of: "monitoring/dashboard.json").joined(separator: "\n")
        let documented = try SourceTree.lines(of: "docs/metrics.md")
            .compactMap { $0.prefixMatch(of: /\| `([a-z_]+)` \|/).map { String($0.output.1) } }
        #expect(documented.filter { !text.contains($0) } == [])
    }

    @Test func `every alert names its promise and an existing page, and has a test`() throws {
        let tests = try SourceTree.lines(of: "monitoring/alerts.test.yml")
        let alerts = try SourceTree.lines(of: "monitoring/alerts.yml").joined(separator: "\n")
            .split(separator: "- alert: ").dropFirst()
        #expect(alerts.count > 20)
        for alert in alerts {
            let name = alert.prefix { !$0.isNewline }
            #expect(alert.contains("promise: "), "\(name)")
            #expect(tests.contains("  - name: \(name)"), "\(name)")
            let runbook = try #require(alert.firstMatch(of: /runbook: ([a-z\/-]+\.md)(?:#(.+))?/))
            let headings = try SourceTree.lines(of: String(runbook.output.1))
                .filter { $0.hasPrefix("#") }
                .map { Self.anchor($0) }
            if let anchor = runbook.output.2 {
                #expect(headings.contains(String(anchor)), "\(name)")
            }
        }
    }

    /// The anchor of a heading, as GitHub makes it.
    private static func anchor(_ heading: Substring) -> String {
        heading.drop { $0 == "#" || $0 == " " }.lowercased()
            .replacing(/[^a-z0-9 -]/, with: "").replacing(" ", with: "-")
    }
}
