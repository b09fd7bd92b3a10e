import ChildProcesses
import Cryptography
import Encodings
import Foundation
import Testing
import TransparencyLog

/// Independent verifiers, applied to our trees, proofs and notes.
///
/// `tools/test` installs them. Without them these tests fail, because they show that others can
/// check our proofs.
@Suite struct OtherVerifiersTests {
    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let package = tests.deletingLastPathComponent().deletingLastPathComponent()

    /// The sizes at which trees have special shapes.
    private static let sizes =
        Array(1...34) + [63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 1_024, 1_025, 2_000]
    /// The number of additional random sizes up to 2,000.
    private static let randomSizes = 16

    @Test func `rekor-verifier accepts our proofs and no others`() throws {
        let claims = try ClaimsFile(Self.sizes, randomSizes: Self.randomSizes)
        let python = Self.package.appendingPathComponent(".local/verifiers/bin/python")
        try #require(
            FileManager.default.isExecutableFile(atPath: python.path),
            "rekor-verifier is missing: tools/test installs it")
        let script = Self.tests.appendingPathComponent("Verifiers/check_claims.py")
        let answer = try run(python, [script.path, claims.path], [:])
        #expect(
            answer == claims.counts(of: ["inclusion", "consistency"]), "seed \(claims.seed)")
    }

    @Test func `Go's sumdb accepts our proofs, stored hashes and notes and no others`() throws {
        let claims = try ClaimsFile(Self.sizes, randomSizes: Self.randomSizes)
        let go = URL(fileURLWithPath: "/usr/bin/go")
        try #require(
            FileManager.default.isExecutableFile(atPath: go.path),
            "Go is missing: tools/test installs it")
        let program = Self.tests.appendingPathComponent("Verifiers/check_claims.go")
        let answer = try run(
            go, ["run", program.path, claims.path],
            [
                // Debian installs modules in a GOPATH tree. Nothing is downloaded.
                "GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOPROXY": "off",
                "GOCACHE": Self.package.appendingPathComponent(".local/go-cache").path,
            ])
        #expect(
            answer == claims.counts(of: ["inclusion", "consistency", "stored", "note"]),
            "seed \(claims.seed)")
    }

    /// Runs a program and returns the lines of its output, sorted.
    private func run(
        _ program: URL, _ arguments: [String], _ environment: [String: String]
    ) throws -> [String] {
        let (status, text) = try ChildProcess.run(
            program.path, arguments, environment: environment, showsErrors: true)
        #expect(status == 0)
        return text.split(separator: "\n").map(String.init).sorted()
    }
}

/// Valid and invalid claims about trees, in a file for other programs.
private final class ClaimsFile {
    let path: String
    private var lines: [String] = []
    private var kinds: [String: Int] = [:]

    /// The maximum number of proofs of each kind and tree: all of them in a tree of no more leaves.
    private static let proofsMax = 34

    /// The seed of trees and positions, from LEDGER_TREE_SEED if set; a failing test prints it.
    let seed: UInt64
    private var generator: Draws

    init(_ sizes: [Int], randomSizes: Int) throws {
        seed =
            ProcessInfo.processInfo.environment["LEDGER_TREE_SEED"].flatMap { UInt64($0) }
            ?? 1
        generator = Draws(seed: seed)
        path =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("claims-\(UUID().uuidString).jsonl").path
        let key = try #require(Ed25519PrivateKey(seed: SHA256.hash("log")))
        let signer = NoteSigner(
            name: try #require(NoteKeyName("log.example/a")), privateKey: key)
        for size in sizes { try claim(size, signer) }
        for _ in 0..<randomSizes {
            try claim(Int.random(in: 1...2_000, using: &generator), signer)
        }
        try (lines.joined(separator: "\n") + "\n").write(
            toFile: path, atomically: true, encoding: .utf8)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Returns the number of claims of some kinds, in the verifiers' format.
    func counts(of wanted: Set<String>) -> [String] {
        kinds.filter { kind, _ in wanted.contains { kind.hasPrefix($0 + " ") } }
            .map { "\($0) \($1)" }.sorted()
    }

    private func claim(_ size: Int, _ signer: NoteSigner) throws {
        let tree = TreeClaims(size: size, using: &generator)
        for position in draw(0..<size) {
            add("inclusion", isValid: true, try tree.inclusion(position))
            add("inclusion", isValid: false, try tree.inclusion(position, isChanged: true))
        }
        for old in draw(1..<size + 1) {
            add("consistency", isValid: true, try tree.consistency(old))
            add("consistency", isValid: false, try tree.consistency(old, isChanged: true))
        }
        add("stored", isValid: true, tree.stored())
        add("note", isValid: true, tree.note(signer, isChanged: false))
        add("note", isValid: false, tree.note(signer, isChanged: true))
    }

    /// Returns the first, the last and some in between; all when they are few.
    private func draw(_ range: Range<Int>) -> [Int] {
        guard range.count > Self.proofsMax else { return Array(range) }
        return [range.lowerBound, range.upperBound - 1]
            + (2..<Self.proofsMax).map { _ in Int.random(in: range, using: &generator) }
    }

    private func add(_ kind: String, isValid: Bool, _ members: String) {
        lines.append("{\"kind\":\"\(kind)\",\"valid\":\(isValid),\(members)}")
        kinds["\(kind) \(isValid ? "valid" : "invalid")", default: 0] += 1
    }
}

/// Random numbers that are reproducible by their seed (SplitMix64).
private struct Draws: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Claims about one tree, as members of JSON objects.
private struct TreeClaims {
    let size: Int
    private let entries: [[UInt8]]
    private let hashes: [TreeHash]
    private let roots: [TreeHash]

    init(size: Int, using generator: inout Draws) {
        self.size = size
        // Some of them empty.
        entries = (0..<size).map { _ in
            let count = Int.random(in: 0..<97, using: &generator)
            return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        }
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

    /// Returns the path of a proof, or one with a hash changed; without hashes the root is changed
    /// instead.
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
