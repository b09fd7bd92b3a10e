/// The files of a bundle, in the order in which they lie in it.
package enum BundleFiles {
    package static let head = "bundle.json"
    package static let keys = "keys.txt"
    package static let checkpoint = "checkpoint.txt"
    package static let consistency = "consistency.jsonl"
    package static let instructions = "VERIFY.md"
    package static let pythonProgram = "verify.py"
    package static let goProgram = "verify.go"
    package static let manifest = "manifest.json"

    /// The checkpoints of one part.
    package static func checkpoints(_ part: Int) -> String { "checkpoints/\(number(part)).jsonl" }

    /// The entries of one part.
    package static func entries(_ part: Int) -> String { "entries/\(number(part)).jsonl" }

    /// Six digits, so that the names sort as the parts do.
    private static func number(_ part: Int) -> String {
        let digits = String(part)
        return String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    }

    /// The most bytes of a small file.
    static let smallBytesMax = 1 << 20
    /// The most bytes of the manifest: a hundred bytes for each of two files a part.
    static let manifestBytesMax = 1 << 26
    /// The most bytes of a line: an entry in base64, its disclosures and its proof.
    static let lineBytesMax = 1 << 20
    /// The most checkpoints of a part: one for each event.
    static let checkpointsMax = ExportedPart.eventsMax
}
