internal import Synchronization

/// The timeline of a primary: each promotion in a cluster begins one with a higher number.
struct Timeline: Sendable {
    /// The cluster's identifier, which all copies of its data have.
    let cluster: Int64
    let number: Int64
}

/// The newest timeline of each cluster to which this process has connected.
///
/// A primary that was frozen or cut off, and continues after another one was promoted, accepts
/// connections until it notices. Only the number of its timeline shows that its data are old.
final class NewestTimelines: Sendable {
    /// Those of all connections of the process.
    static let known = NewestTimelines()

    private let numbers = Mutex<[Int64: Int64]>([:])

    /// Notes a primary's timeline, and returns whether no newer one is known.
    func admit(_ timeline: Timeline) -> Bool {
        numbers.withLock { numbers in
            guard timeline.number >= numbers[timeline.cluster] ?? 0 else { return false }
            numbers[timeline.cluster] = timeline.number
            return true
        }
    }

    /// Checks whether no newer timeline is known.
    func includes(_ timeline: Timeline) -> Bool {
        numbers.withLock { timeline.number >= $0[timeline.cluster] ?? 0 }
    }
}

extension Connection {
    /// NULL on a standby, whose timeline is that of its primary.
    private static let currentTimeline = Statement(
        "current_timeline",
        """
        SELECT system_identifier AS cluster, CASE WHEN NOT pg_is_in_recovery() THEN
            ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint END AS number
        FROM pg_control_system()
        """)

    /// Whether the server was the primary, and another one has been promoted since.
    package var isOfFormerPrimary: Bool {
        timeline.map { !NewestTimelines.known.includes($0) } ?? false
    }

    /// Accepts one of several servers, unless it is a former primary.
    ///
    /// - Throws: `.connectionFailed`.
    func admit(
        _ candidate: ConnectionHandle, within timeLeft: inout Duration
    ) throws(PostgresError) {
        let start = ContinuousClock.now
        use(candidate)
        deadline = start + timeLeft
        defer {
            deadline = nil
            timeLeft -= ContinuousClock.now - start
        }
        do throws(PostgresError) {
            timeline = try readTimeline()
        } catch {
            use(nil)
            throw .connectionFailed("\(error)")
        }
        if let timeline, !NewestTimelines.known.admit(timeline) {
            use(nil)
            throw .connectionFailed(
                "the server is a former primary; restart this process to go back to it")
        }
    }

    /// Returns the timeline; nil on a standby, or if the login may not read it.
    private func readTimeline() throws(PostgresError) -> Timeline? {
        let result: QueryResult
        do throws(PostgresError) {
            result = try query(Self.currentTimeline)
        } catch .server(let error)
            where [.insufficientPrivilege, .undefinedFunction].contains(error.state)
        {
            return nil
        }
        guard let number = try result.optionalInt8(0, 1) else { return nil }
        return Timeline(cluster: try result.int8(0, 0), number: number)
    }
}
