internal import HTTP
internal import Ledger

/// One client's stream of events.
struct EventFeed: Sendable {
    /// How long a client is to wait before it connects again, in milliseconds.
    private static let retryMilliseconds = 2_000
    /// How long to wait after a read that failed.
    private static let faultPause = Duration.seconds(1)

    let tenant: TenantID
    let streams: EventStreams
    /// Held for as long as the stream may run.
    let place: EventStreams.Place
    let visit: Visit
    let query: EventQuery

    /// Writes events until the client is gone, the server stops, or the key is no longer good.
    func run(into stream: HTTPStream) async {
        var query = query
        var silence = Interval(limit: streams.pace.heartbeat)
        /// What the client comes back with.
        var told = query.after
        /// Between two positions that it is told without an event.
        var mark = Interval(limit: streams.pace.poll)
        guard await stream.write(Array("retry: \(Self.retryMilliseconds)\n\n".utf8)) else { return }
        while true {
            guard await isAlive(stream, &silence) else { return }
            let seen = streams.watch.count
            let page: CursorPage<ShownEvent>
            do {
                page = try await streams.events.events(
                    matching: query, in: tenant, isDisclosing: false)
            } catch {
                // The client stays: it would only come again, and some never do after a 503.
                guard await rest(Self.faultPause) else { return }
                continue
            }
            for event in page.elements {
                // A slow reader may take longer for a page than its key is good.
                guard await isAlive(stream, &silence), await stream.write(Self.text(of: event))
                else { return }
                told = event.position
            }
            query.after = page.cursor.map { LogPosition($0) } ?? query.after
            if let last = query.after, last != told, mark.isOver {
                // No event to a client, but what it comes back with: who waits for rare events does not
                // have everything before them looked through again.
                let place = await place(at: last)
                guard await stream.write(Array("id: \(place)\n\n".utf8)) else { return }
                told = last
                mark.begin()
            }
            if !page.hasMore {
                guard await rest(streams.pace.gather) else { return }
                let limit = min(streams.pace.poll, silence.rest)
                await streams.watch.wait(since: seen, atMost: limit)
            }
        }
    }

    /// After a while, writes a comment and looks at the key again; false when the stream is to end.
    ///
    /// A key that can't be asked about is still good.
    private func isAlive(_ stream: HTTPStream, _ silence: inout Interval) async -> Bool {
        guard silence.isOver else { return true }
        silence.begin()
        guard (try? await visit.isStillWelcome()) ?? true else { return false }
        return await stream.write(Array(":\n\n".utf8))
    }

    /// What a client that has seen everything up to a position comes back with; without the event's name
    /// while that can't be read.
    private func place(at position: LogPosition) async -> StreamPlace {
        var query = EventQuery(limit: 1)
        query.after = position.value > 0 ? LogPosition(position.value - 1) : nil
        let page = try? await streams.events.events(
            matching: query, in: tenant, isDisclosing: false)
        let found = page?.elements.first.flatMap { $0.position == position ? $0 : nil }
        return found.map { StreamPlace($0) } ?? StreamPlace(position: position, event: nil)
    }

    /// False when the stream has ended meanwhile.
    private func rest(_ duration: Duration) async -> Bool {
        (try? await Task.sleep(for: duration)) != nil
    }

    private static func text(of event: ShownEvent) -> [UInt8] {
        var text = Array("id: \(StreamPlace(event))\n".utf8)
        if let recorded = event.recorded { text += "event: \(recorded.event.name.rawValue)\n".utf8 }
        text += "data: ".utf8
        var writer = JSONWriter()
        writer.object { event.writeMembers(to: &$0) }
        // What is written has no line breaks: those in texts are escaped.
        text += writer.bytes
        text += "\n\n".utf8
        return text
    }
}

/// A stretch of time that comes again.
private struct Interval {
    let limit: Duration
    private var start = ContinuousClock.now

    init(limit: Duration) {
        self.limit = limit
    }

    /// What is left of it.
    var rest: Duration { max(.zero, limit - (ContinuousClock.now - start)) }

    var isOver: Bool { rest == .zero }

    mutating func begin() {
        start = .now
    }
}
