/// Why a sealer signs no further checkpoint of a log: it contradicts the last signature, or cannot be
/// compared with it.
///
/// Never resolved by another signature. Holds positions and sizes only, no personal data.
package enum SealingRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The log is shorter than what was signed: it was truncated, or the database was rolled back.
    case logTruncated(size: Int64, signed: Int64)
    /// The stored hashes end before what was signed.
    case hashesTruncated(signed: Int64)
    /// The stored hashes do not end where those of a tree do, nor before what was signed.
    ///
    /// The end of the last row says nothing about the rows before it, which the audit reads.
    case hashesDamaged
    /// There are hashes of more events than the log has.
    ///
    /// The end of the last row says nothing about the rows before it, which the audit reads.
    case hashesSurplus(size: Int64, hashed: Int64)
    /// The log or its hashes differ from what was signed.
    case contradicts(SealingFinding)
    /// No server has appended an event, or the key to check it is unavailable.
    case unauthentic(LogDamage)
    /// A published checkpoint is not in the record, or the record is missing.
    case recordUnusable(String)
    /// The database fails on every request for this log.
    case databaseFails(String)

    /// Whether it concerns the log itself, and so lasts until an audit has found everything in order.
    var concernsLog: Bool {
        switch self {
        case .logTruncated, .hashesTruncated, .hashesDamaged, .hashesSurplus, .contradicts: true
        case .unauthentic(let damage): !damage.lacksKey
        case .recordUnusable, .databaseFails: false
        }
    }

    /// Whether everything that was signed is intact, and the reason can be a row that any login of a server or
    /// sealer may add, of `checkpoints`, `merkle_nodes` or after the signed events.
    package var sparesSignedEvents: Bool {
        switch self {
        case .contradicts(let finding): finding.sparesSignedEvents || finding.before == nil
        // A record that is behind cannot be distinguished.
        case .recordUnusable, .hashesDamaged, .hashesSurplus: true
        case .logTruncated, .hashesTruncated, .unauthentic, .databaseFails: false
        }
    }

    package var description: String {
        switch self {
        case .logTruncated(let size, let signed):
            "the log went back: it has \(size) events, and \(signed) were signed;"
                + " what is gone lies between \(size) and \(signed)"
        case .hashesTruncated(let signed):
            "the stored hashes end before size \(signed), which was signed"
        case .hashesDamaged: "the stored hashes are cut off in the middle of a tree"
        case .hashesSurplus(let size, let hashed):
            "there are hashes of \(hashed) events, and the log has \(size)"
        case .contradicts(let finding): finding.description
        case .unauthentic(let damage): damage.description
        case .recordUnusable(let reason): reason
        case .databaseFails(let reason): "the database fails on every request: \(reason)"
        }
    }
}

/// A position in a log that differs from the sealed state.
package struct SealingFinding: Hashable, Sendable, CustomStringConvertible {
    /// A description of the fault.
    package let what: String
    /// The first position that differs, where it is known.
    package let position: Int64?
    /// The size up to which everything is as it was signed.
    package let after: Int64
    /// The first signed size that is contradicted; nil when the fault is above all signed sizes.
    package let before: Int64?
    /// Whether the signed events are intact as far as they were read, and the reason can be a row that any
    /// login of a server or sealer may add.
    package let sparesSignedEvents: Bool

    /// Creates a finding.
    package init(
        what: String, position: Int64?, after: Int64, before: Int64?,
        sparesSignedEvents: Bool = false
    ) {
        self.sparesSignedEvents = sparesSignedEvents
        self.what = what
        self.position = position
        self.after = after
        self.before = before
    }

    /// Rows of stored hashes overlap, as those of sealers never do, and one may hide signed hashes of another.
    static func overlap(after: Int64, before: Int64?) -> SealingFinding {
        SealingFinding(
            what: "rows of stored hashes overlap", position: nil, after: after, before: before,
            sparesSignedEvents: true)
    }

    package var description: String {
        let location = position.map { "position \($0): " } ?? ""
        let end = before.map { "and \($0)" } ?? "and what is not signed yet"
        return "\(location)\(what); it lies between the checkpoints of sizes \(after) \(end)"
    }
}
