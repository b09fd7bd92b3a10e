import JSON
package import Ledger

/// The ids of an account in other systems, as its access tokens state them.
///
/// Whole ids in their order, up to a number and a size, so that a token stays short. A token that lacks some
/// says so.
package struct TokenNames: Sendable {
    /// The maximum number of ids.
    static let countMax = 16
    /// The maximum size of the object of the ids, in bytes.
    static let bytesMax = 1024

    private var ids: [(source: NameSource, ids: [String])] = []
    private var isComplete = true

    /// States no ids.
    package static let none = TokenNames([])

    /// States these ids, which are in order; nil states that they are unknown.
    package init(_ names: [ExternalName]?) {
        guard let names else {
            isComplete = false
            return
        }
        var byteCount = 2
        for (index, name) in names.enumerated() {
            let place = ids.firstIndex { $0.source == name.source }
            byteCount += Self.byteCount(name.id) + 1
            // Quotes, a colon, brackets and a comma.
            if place == nil { byteCount += name.source.description.utf8.count + 6 }
            guard index < Self.countMax, byteCount <= Self.bytesMax else {
                isComplete = false
                return
            }
            if let place {
                ids[place].ids.append(name.id)
            } else {
                ids.append((name.source, [name.id]))
            }
        }
    }

    private static func byteCount(_ id: String) -> Int {
        var writer = JSONWriter()
        writer.text(id)
        return writer.bytes.count
    }

    /// Writes the claim; none without ids.
    func write(to writer: inout JSONWriter) {
        guard !ids.isEmpty || !isComplete else { return }
        writer.name("account_ledger")
        writer.object { writer in
            writer.name("external_ids")
            writer.object { writer in
                for (source, ids) in ids {
                    writer.name(source.description)
                    writer.texts(ids)
                }
            }
            if !isComplete {
                writer.name("external_ids_complete")
                writer.flag(false)
            }
        }
    }
}
