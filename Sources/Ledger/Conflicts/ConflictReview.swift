/// A note of staff that a conflict was looked at; void from the next attempt on.
package struct ConflictReview: Hashable, Sendable {
    /// The maximum length of a note, in bytes.
    package static let noteBytesMax = 1_000
    /// The rule in words.
    package static let form = "1 to \(noteBytesMax) bytes without control characters"

    /// May be personal data: shown to those who may see it.
    package let note: String
    /// The principal that wrote it, as in the access log.
    package let principal: String
    package let at: Timestamp

    /// Describes a note.
    package init(note: String, principal: String, at: Timestamp) {
        self.note = note
        self.principal = principal
        self.at = at
    }

    /// Checks whether a text is a valid note.
    package static func allows(_ text: String) -> Bool {
        (1...noteBytesMax).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }
}

/// A conflict, with its note.
package struct ReviewedConflict: Hashable, Sendable {
    package let conflict: Conflict
    /// Nil without a note since the last attempt.
    package let review: ConflictReview?

    /// Pairs a conflict with its note.
    package init(_ conflict: Conflict, _ review: ConflictReview?) {
        self.conflict = conflict
        self.review = review
    }
}

/// The numbers of conflicts among the last ones, by state.
package struct ConflictCounts: Hashable, Sendable {
    package let open: Int64
    /// Those of ``open`` that have a note.
    package let reviewed: Int64
    package let resolved: Int64
    /// Whether there are further conflicts, with earlier last attempts, that were not counted.
    package let hasMore: Bool
    package let extent: ConflictExtent

    /// Describes the numbers.
    package init(
        open: Int64, reviewed: Int64, resolved: Int64, hasMore: Bool, extent: ConflictExtent
    ) {
        self.open = open
        self.reviewed = reviewed
        self.resolved = resolved
        self.hasMore = hasMore
        self.extent = extent
    }
}

/// How much of the log the conflicts include.
package struct ConflictExtent: Hashable, Sendable {
    /// The number of events of the log that the conflicts include.
    package let foldedSize: Int64
    /// The number of events of the log.
    package let logSize: Int64

    /// Describes an extent.
    package init(foldedSize: Int64, logSize: Int64) {
        self.foldedSize = foldedSize
        self.logSize = logSize
    }
}

/// The note on a conflict was not changed.
package enum ReviewRefusal: Error, Hashable, Sendable {
    /// No conflict has this first attempt.
    case unknownConflict
    /// The caller or the holder was erased: no note may be kept about them.
    case accountErased
}
