/// The names of a bundle's files, in their order in the bundle.
package enum BundleFiles {
    package static let head = "bundle.json"
    package static let keys = "keys.txt"
    package static let checkpoint = "checkpoint.txt"
    package static let consistency = "consistency.jsonl"
    package static let instructions = "VERIFY.md"
    package static let pythonProgram = "verify.py"
    package static let goProgram = "verify.go"
    package static let page = "verify.html"
    package static let manifest = "manifest.json"

    /// Returns the name of the checkpoints of one part.
    package static func checkpoints(_ part: Int) -> String { "checkpoints/\(number(part)).jsonl" }

    /// Returns the name of the entries of one part.
    package static func entries(_ part: Int) -> String { "entries/\(number(part)).jsonl" }

    /// Six digits, so that the names sort as the parts do.
    private static func number(_ part: Int) -> String {
        let digits = String(part)
        return String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    }

    /// The maximum size of a small file, in bytes.
    static let smallBytesMax = 1 << 20
    /// The maximum size of the manifest, in bytes: a hundred for each of two files per part.
    static let manifestBytesMax = 1 << 26
    /// The maximum length of a line, in bytes: an entry in base64, its disclosures and its proof.
    static let lineBytesMax = 1 << 20
    /// The maximum number of checkpoints of a part: one for each event.
    static let checkpointsMax = ExportedPart.eventsMax
}
