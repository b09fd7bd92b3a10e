/// The kind of a ``ChallengeID``.
package enum ChallengeKind {}

/// The id of a challenge: 128 random bits, which a client needs beside the code.
package typealias ChallengeID = EntityID<ChallengeKind>
