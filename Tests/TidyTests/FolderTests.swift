import Testing

/// The folders of a module depend on each other in one direction.
@Suite struct FolderTests {
    /// A dependency that closes a cycle, and why it may.
    private struct Exception {
        let module: String
        let dependency: FolderGraph.Dependency
        let reason: String

        init(_ module: String, _ from: String, _ to: String, _ types: Set<String>, _ reason: String)
        {
            self.module = module
            self.reason = reason
            dependency = FolderGraph.Dependency(from: from, to: to, types: types)
        }
    }

    private static let exceptions = [
        Exception(
            "Ledger", "Entries", "Events", ["Event"],
            "an entry contains an event, and an event's details are fields of its entry"),
        Exception(
            "Ledger", "Entries", "State", ["Account"],
            "the entries of merges list links as the state has them: `Account.Link`"),
        Exception(
            "Ledger", "Events", "State", ["Account"],
            "merges contain links as the state has them: `Account.Link`"),
        Exception(
            "LedgerAPI", "Pipeline", "Native", ["AccessTokens"],
            "the services hold the one kind of access tokens until a second surface has its own"),
    ]

    @Test func `no folders of a module depend on each other in a cycle`() throws {
        let files = try SourceTree(["Sources"]).files.filter {
            $0.module.hasPrefix("Ledger") || $0.module == "account-ledger"
        }
        let modules = Dictionary(grouping: files, by: \.module)
        #expect(modules.count > 5)
        for (module, files) in modules {
            let graph = FolderGraph(files.map { FolderGraph.File($0) })
            let excepted = Self.exceptions.filter { $0.module == module }.map(\.dependency)
            let cycles = graph.cycles(without: excepted).map(\.description).sorted()
            #expect(cycles.isEmpty, "\(module): \(cycles)")
            for exception in excepted {
                let others = excepted.filter { $0 != exception }
                #expect(
                    graph.cycles(without: others).contains(exception),
                    "listed, but no longer true: \(exception)")
            }
        }
    }

    @Test func `a cycle is found by the types that code names`() {
        let graph = FolderGraph([
            FolderGraph.File(
                folder: "Top",
                source: """
                    struct Roof { let wall: Wall, garden: Garden }
                    struct Lawn {}
                    extension Wall { struct Door {} }
                    """),
            FolderGraph.File(
                folder: "Middle", source: "struct Wall { var text: String { \"\\(Floor.n)\" } }"),
            FolderGraph.File(folder: "Bottom", source: "enum Floor { static let n = Roof.self }"),
            FolderGraph.File(
                folder: "Aside",
                source: """
                    // Roof
                    struct Garden { let text = "Roof", lawn = Lawn() }
                    private struct Lawn {}
                    """),
        ])
        #expect(
            Set(graph.cycles().map(\.description)) == [
                "Top -> Middle by Wall", "Middle -> Bottom by Floor", "Bottom -> Top by Roof",
            ])
        let excepted = FolderGraph.Dependency(from: "Bottom", to: "Top", types: ["Roof"])
        #expect(graph.cycles(without: [excepted]).isEmpty)
        let other = FolderGraph.Dependency(from: "Bottom", to: "Top", types: ["Roof", "Wall"])
        #expect(graph.cycles(without: [other]).count == 3)
    }
}

extension FolderGraph.File {
    fileprivate init(folder: String, source: String) {
        self.init(folder: folder, source: Array(source.utf8))
    }

    fileprivate init(_ file: SourceTree.File) {
        let parts = file.path.split(separator: "/")
        self.init(
            folder: parts.count > 3 ? String(parts[2]) : "the files beside folders",
            source: Array(file.lines.joined(separator: "\n").utf8))
    }
}
