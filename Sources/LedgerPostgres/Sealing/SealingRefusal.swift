/// Why a sealer signs no further checkpoint of a log: what was signed before does not hold any more, or
/// nobody can tell.
///
/// Never mended by signing something else. Positions and sizes only, no personal data.
package enum SealingRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The log is shorter than what was signed: it was cut off, or the database was set back.
    case logWentBack(size: Int64, signed: Int64)
    /// The stored hashes end before what was signed.
    case hashesWentBack(signed: Int64)
    /// There are as many stored hashes as no tree has.
    case hashesDamaged
    /// The log or its hashes are not what was signed.
    case contradicts(SealingFinding)
    /// No server has appended an event, or the key that would tell is not at hand.
    case unauthentic(LogDamage)
    /// A checkpoint was published that the record does not know of, or the record is missing.
    case recordUnfit(String)
    /// The database fails whenever it is asked for this log.
    case databaseFails(String)

    /// Whether it is about the log itself: then it holds until an audit has found everything in place.
    var isOfLog: Bool {
        switch self {
        case .logWentBack, .hashesWentBack, .hashesDamaged, .contradicts: true
        case .unauthentic(let damage): !damage.lacksKey
        case .recordUnfit, .databaseFails: false
        }
    }

    /// Whether a published checkpoint is wrong and nothing that was found of the log: anybody who may add
    /// rows of checkpoints can bring that about.
    package var isOfCheckpointAlone: Bool {
        switch self {
        case .contradicts(let finding): finding.isOfCheckpointAlone
        // Of a record that is behind it cannot be told apart.
        case .recordUnfit: true
        case .logWentBack, .hashesWentBack, .hashesDamaged, .unauthentic, .databaseFails: false
        }
    }

    package var description: String {
        switch self {
        case .logWentBack(let size, let signed):
            "the log went back: it has \(size) events, and \(signed) were signed;"
                + " what is gone lies between \(size) and \(signed)"
        case .hashesWentBack(let signed):
            "the stored hashes end before size \(signed), which was signed"
        case .hashesDamaged: "the stored hashes are cut off in the middle of a tree"
        case .contradicts(let finding): finding.description
        case .unauthentic(let damage): damage.description
        case .recordUnfit(let reason): reason
        case .databaseFails(let reason): "the database fails whenever it is asked: \(reason)"
        }
    }
}

/// A place in a log that is not what it was when it was sealed.
package struct SealingFinding: Hashable, Sendable, CustomStringConvertible {
    /// What is wrong there.
    package let what: String
    /// The first position that is not as it was, where that can be told.
    package let position: Int64?
    /// The size up to which everything is as it was signed.
    package let after: Int64
    /// The first signed size that does not hold; nil when what is wrong was not signed yet.
    package let before: Int64?
    /// Whether it is a published checkpoint that nobody signed, and the log is as it was.
    package let isOfCheckpointAlone: Bool

    /// Describes a place.
    package init(
        what: String, position: Int64?, after: Int64, before: Int64?,
        isOfCheckpointAlone: Bool = false
    ) {
        self.isOfCheckpointAlone = isOfCheckpointAlone
        self.what = what
        self.position = position
        self.after = after
        self.before = before
    }

    package var description: String {
        let place = position.map { "position \($0): " } ?? ""
        let end = before.map { "and \($0)" } ?? "and what is not signed yet"
        return "\(place)\(what); it lies between the checkpoints of sizes \(after) \(end)"
    }
}
