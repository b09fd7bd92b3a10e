import Cryptography
import Foundation
import Testing
import TransparencyLog

/// What verifiers that are not ours say about our trees, proofs and notes.
///
/// `tools/test` installs them. Without them these tests fail: nothing may be skipped that shows that
/// others can check what we prove.
@Suite struct OtherVerifiersTests {
    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let package = tests.deletingLastPathComponent().deletingLastPathComponent()

    /// Some sizes where trees are special, and some that are not, up to 2,000.
    private static let sizes =
        Array(1...34) + [63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 777, 1_000, 1_024, 1_025]
        + [1_500, 1_999, 2_000]

    @Test func `rekor-verifier accepts our proofs and no others`() throws {
        let claims = try ClaimsFile(Self.sizes)
        let python = Self.package.appendingPathComponent(".local/verifiers/bin/python")
        try #require(
            FileManager.default.isExecutableFile(atPath: python.path),
            "rekor-verifier is missing: tools/test installs it")
        let script = Self.tests.appendingPathComponent("Verifiers/check_claims.py")
        let answer = try run(python, [script.path, claims.path], [:])
        #expect(answer == claims.counts(of: ["inclusion", "consistency"]))
    }

    @Test func `Go's sumdb accepts our proofs, stored hashes and notes and no others`() throws {
        let claims = try ClaimsFile(Self.sizes)
        let go = URL(fileURLWithPath: "/usr/bin/go")
        try #require(
            FileManager.default.isExecutableFile(atPath: go.path),
            "Go is missing: tools/test installs it")
        let program = Self.tests.appendingPathComponent("Verifiers/check_claims.go")
        let answer = try run(
            go, ["run", program.path, claims.path],
            [
                // Debian's modules lie in a tree of the old kind. Nothing is fetched.
                "GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOPROXY": "off",
                "GOCACHE": Self.package.appendingPathComponent(".local/go-cache").path,
            ])
        #expect(answer == claims.counts(of: ["inclusion", "consistency", "stored", "note"]))
    }

    /// Runs a program to its end and returns the lines of its output, sorted.
    private func run(
        _ program: URL, _ arguments: [String], _ environment: [String: String]
    ) throws -> [String] {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        let fault = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(
            process.terminationStatus == 0,
            "\(String(decoding: fault.prefix(2_000), as: UTF8.self))")
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
            .sorted()
    }
}

/// Claims about trees, right ones and wrong ones, in a file that others can read.
private final class ClaimsFile {
    let path: String
    private var lines: [String] = []
    private var kinds: [String: Int] = [:]

    init(_ sizes: [Int]) throws {
        path =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("claims-\(UUID().uuidString).jsonl").path
        let key = try #require(Ed25519PrivateKey(seed: SHA256.hash("log")))
        let signer = NoteSigner(
            name: try #require(NoteKeyName("log.example/a")), privateKey: key)
        for size in sizes {
            try claim(TreeClaims(size: size), signer)
        }
        try (lines.joined(separator: "\n") + "\n").write(
            toFile: path, atomically: true, encoding: .utf8)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// How many claims there are of some kinds, as the verifiers print it.
    func counts(of wanted: Set<String>) -> [String] {
        kinds.filter { kind, _ in wanted.contains { kind.hasPrefix($0 + " ") } }
            .map { "\($0) \($1)" }.sorted()
    }

    private func claim(_ tree: TreeClaims, _ signer: NoteSigner) throws {
        for step in 0..<24 {
            let position = step * 7_919 % tree.size
            add("inclusion", isValid: true, try tree.inclusion(position))
            add("inclusion", isValid: false, try tree.inclusion(position, isChanged: true))
            let old = 1 + step * 104_729 % tree.size
            add("consistency", isValid: true, try tree.consistency(old))
            add("consistency", isValid: false, try tree.consistency(old, isChanged: true))
        }
        add("stored", isValid: true, tree.stored())
        add("note", isValid: true, tree.note(signer, isChanged: false))
        add("note", isValid: false, tree.note(signer, isChanged: true))
    }

    private func add(_ kind: String, isValid: Bool, _ members: String) {
        lines.append("{\"kind\":\"\(kind)\",\"valid\":\(isValid),\(members)}")
        kinds["\(kind) \(isValid ? "valid" : "invalid")", default: 0] += 1
    }
}

/// Claims about one tree, as members of JSON objects.
private struct TreeClaims {
    let size: Int
    private let entries: [[UInt8]]
    private let hashes: [TreeHash]
    private let roots: [TreeHash]

    init(size: Int) {
        self.size = size
        // Entries of all lengths, some of them empty.
        entries = (0..<size).map { [UInt8](repeating: UInt8($0 % 251), count: $0 * 37 % 97) }
        var range = CompactRange()
        var (hashes, roots) = ([TreeHash](), [range.root])
        for entry in entries {
            range.append(.leaf(entry), completing: &hashes)
            roots.append(range.root)
        }
        (self.hashes, self.roots) = (hashes, roots)
    }

    func inclusion(_ position: Int, isChanged: Bool = false) throws -> String {
        let nodes = try InclusionProof.nodes(position: Int64(position), size: Int64(size))
        var root = roots[size]
        let path = path(nodes, isChanged, &root)
        return "\"position\":\(position),\"size\":\(size),\"path\":\(path),\"root\":\(hex(root)),"
            + "\"entry\":\"\(Base64.encode(entries[position]))\""
    }

    func consistency(_ old: Int, isChanged: Bool = false) throws -> String {
        let nodes = try ConsistencyProof.nodes(old: Int64(old), size: Int64(size))
        var root = roots[size]
        let path = path(nodes, isChanged, &root)
        return "\"old\":\(old),\"size\":\(size),\"path\":\(path),\"root\":\(hex(root)),"
            + "\"old_root\":\(hex(roots[old]))"
    }

    func stored() -> String {
        let texts = entries.map { "\"\(Base64.encode($0))\"" }.joined(separator: ",")
        return "\"entries\":[\(texts)],\"path\":\(list(hashes)),\"root\":\(hex(roots[size]))"
    }

    func note(_ signer: NoteSigner, isChanged: Bool) -> String {
        var text = Checkpoint(
            origin: signer.verifier.name, size: Int64(size), root: roots[size]
        ).signed(by: [signer]).description
        if isChanged {
            text = text.replacing("\n\(size)\n", with: "\n\(size + 1)\n")
        }
        return "\"size\":\(size),\"root\":\(hex(roots[size])),\"key\":\"\(signer.verifier.vkey)\","
            + "\"note\":\"\(text.replacing("\n", with: "\\n"))\""
    }

    /// The path of a proof, or one with a hash changed; without hashes the root is changed instead.
    private func path(
        _ nodes: ProofNodes, _ isChanged: Bool, _ root: inout TreeHash
    ) -> String {
        var path = nodes.path(nodes.indexes.map { hashes[Int($0)] })
        if isChanged, path.isEmpty {
            root = .emptyRoot
        } else if isChanged {
            path[path.count / 2] = .emptyRoot
        }
        return list(path)
    }

    private func list(_ hashes: [TreeHash]) -> String {
        "[" + hashes.map { hex($0) }.joined(separator: ",") + "]"
    }

    private func hex(_ hash: TreeHash) -> String {
        "\"\(Hex.encode(hash.bytes))\""
    }
}
