/// The counts of answers to all clients of a fault test.
package struct TrafficCount: Sendable {
    /// Answers 200 to commands.
    package var acknowledged = 0
    /// Answers 503.
    package var unavailable = 0
    /// Requests whose connection ended without an answer.
    package var unanswered = 0
    /// Answers 503 without `Retry-After`, which are wrong.
    package var withoutRetryAfter = 0
    /// The first answers that a fault does not excuse, one per line.
    package var surprises: [String] = []
    /// The longest time until any answer.
    package var slowestAnswer = Duration.zero
    /// The longest time until a 503.
    package var slowestRefusal = Duration.zero
    /// The longest time until a connection ended without an answer.
    package var slowestSilence = Duration.zero

    static let surprisesMax = 20

    mutating func surprise(_ line: @autoclosure () -> String) {
        if surprises.count < Self.surprisesMax { surprises.append(line()) }
    }
}
