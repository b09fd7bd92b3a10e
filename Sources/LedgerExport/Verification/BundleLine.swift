internal import Encodings
internal import JSON
internal import Ledger
internal import TransparencyLog

/// A parsed line of a bundle's entries.
struct BundleLine {
    /// The maximum number of disclosures of an event: that of its digests.
    private static let disclosuresMax = 64
    /// The maximum length of a path in any tree.
    private static let pathMax = 63

    let position: Int64
    let entry: [UInt8]
    let disclosures: [String]
    let path: [TreeHash]?

    init(parsing line: [UInt8], after last: Int64) throws(BundleFault) {
        guard
            let members = JSONValue(parsing: line)?.members,
            let position = (members["position"]?.string).flatMap({ Int64(count: $0) }),
            let entry = (members["entry"]?.string).flatMap({ Base64.decode($0) }),
            let disclosures = Self.texts(members["disclosures"], max: Self.disclosuresMax)
        else {
            throw BundleFault("the line is not an event", at: last + 1)
        }
        self.position = position
        self.entry = entry
        self.disclosures = disclosures
        guard let path = members["path"] else {
            self.path = nil
            return
        }
        self.path = try Self.path(path, position: position)
    }

    /// Reads hashes in base64.
    static func path(_ value: JSONValue?, position: Int64?) throws(BundleFault) -> [TreeHash] {
        let hashes = texts(value, max: pathMax)?.map { TreeHash(base64: $0) }
        let path = hashes?.compactMap(\.self)
        guard let path, path.count == hashes?.count else {
            throw BundleFault("the proof is malformed", at: position)
        }
        return path
    }

    /// Returns the strings of an array; empty when it is absent, nil when it is not an array of
    /// strings.
    private static func texts(_ value: JSONValue?, max: Int) -> [String]? {
        guard let value else { return [] }
        guard let list = value.array, list.count <= max else { return nil }
        let texts = list.compactMap(\.string)
        return texts.count == list.count ? texts : nil
    }
}
