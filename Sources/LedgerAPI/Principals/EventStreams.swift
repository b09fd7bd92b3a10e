package import Ledger

/// What the streams of events work with.
package struct EventStreams: Sendable {
    /// How long streams wait for what.
    package struct Pace: Sendable {
        /// How long commits gather before a stream looks for more.
        package var gather: Duration = .milliseconds(100)
        /// How soon what other processes append is seen.
        package var poll: Duration = .seconds(1)
        /// How long a stream is silent at the most, and how soon it ends when its key is revoked.
        package var heartbeat: Duration = .seconds(15)

        /// The pace of a server.
        package init() {}
    }

    /// How many events one look reads.
    static let pageEvents = 100

    /// Reads the log.
    let events: any EventReader
    /// Wakes streams when this process has appended something.
    let watch: any LogWatch
    /// Bounds how many streams are open at once.
    let turns: AuditTurns
    let pace: Pace

    /// Collects what streams need; so many may be open at once.
    package init(
        events: any EventReader, watch: any LogWatch, countMax: Int = 32, pace: Pace = Pace()
    ) {
        self.events = events
        self.watch = watch
        turns = AuditTurns(limit: countMax)
        self.pace = pace
    }

    /// A place among the open streams, for as long as somebody holds it; nil when there is none left.
    func place() -> Place? {
        turns.take() ? Place(turns: turns) : nil
    }

    /// One of the places; given back when nobody holds it.
    final class Place: Sendable {
        private let turns: AuditTurns

        init(turns: AuditTurns) {
            self.turns = turns
        }

        deinit {
            turns.giveBack()
        }
    }
}
