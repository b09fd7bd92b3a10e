/// A parser of external data, with the properties that must hold for every input.
struct FuzzTarget: Sendable {
    let name: String
    /// Valid inputs, from which the others are derived.
    let corpus: [[UInt8]]
    /// Tokens with a meaning for the parser.
    let words: [[UInt8]]
    /// Feeds an input and returns whether it was accepted; throws `Finding` when a property is violated.
    let run: @Sendable ([UInt8]) async throws -> Bool

    init(
        _ name: String, corpus: [String], words: [String] = [],
        run: @escaping @Sendable ([UInt8]) async throws -> Bool
    ) {
        self.init(name, bytes: corpus.map { Array($0.utf8) }, words: words, run: run)
    }

    init(
        _ name: String, bytes: [[UInt8]], words: [String] = [],
        run: @escaping @Sendable ([UInt8]) async throws -> Bool
    ) {
        self.name = name
        corpus = bytes
        self.words = words.map { Array($0.utf8) }
        self.run = run
    }

    /// Returns the input of an execution: a pure function of target, seed and number.
    func input(seed: UInt64, execution: Int) -> [UInt8] {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        var mutator = Mutator(
            seed: seed &* 0x9E37_79B9_7F4A_7C15 ^ hash &+ UInt64(execution)
                &* 0xD1B5_4A32_D192_ED03,
            corpus: corpus, words: words)
        return mutator.input(isFirst: execution < corpus.count ? execution : nil)
    }
}

/// A violated property: the description of a wrong result.
struct Finding: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Throws a finding unless a condition holds.
func require(_ condition: Bool, _ what: @autoclosure () -> String) throws {
    guard condition else { throw Finding(what()) }
}
