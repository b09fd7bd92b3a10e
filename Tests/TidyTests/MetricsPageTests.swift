import Testing

/// The page of the docs that says what each metric means.
@Suite struct MetricsPageTests {
    @Test func `the docs list exactly the existing metrics`() throws {
        let source = try SourceTree(
            ["Metrics", "Serving"].map { "Sources/account-ledger/\($0)" }
        ).files
            .flatMap(\.lines).joined(separator: "\n")
        let begun = /"((?:ledger|process)_[a-z_]+)",\s*(?:\.(?:counter|gauge|histogram|summary),|")/
        let written = source.matches(of: begun).map { String($0.output.1) }
        let row = /\| `([a-z_]+)` \|/
        let documented = try SourceTree.lines(of: "docs/metrics.md")
            .compactMap { $0.prefixMatch(of: row).map { String($0.output.1) } }
        #expect(written.count > 20)
        #expect(written.sorted() == documented.sorted())
    }
}
