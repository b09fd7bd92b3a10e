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
        var silence = Silence(limit: streams.pace.heartbeat)
        guard await stream.write(Array("retry: \(Self.retryMilliseconds)\n\n".utf8)) else { return }
        while true {
            if silence.isOver {
                guard await isWelcome(), await stream.write(Array(":\n\n".utf8)) else { return }
                silence.end()
            }
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
                guard await stream.write(Self.text(of: event)) else { return }
                query.after = event.position
            }
            if let cursor = page.cursor, cursor != query.after?.value {
                // No event to a client, but what it comes back with: who waits for rare events does not
                // have everything before them looked through again.
                guard await stream.write(Array("id: \(cursor)\n\n".utf8)) else { return }
                query.after = LogPosition(cursor)
            }
            if !page.hasMore {
                guard await rest(streams.pace.gather) else { return }
                let limit = min(streams.pace.poll, silence.rest)
                await streams.watch.wait(since: seen, atMost: limit)
            }
        }
    }

    /// False when the key was revoked or has expired; who can't be asked about stays.
    private func isWelcome() async -> Bool {
        (try? await visit.isStillWelcome()) ?? true
    }

    /// False when the stream has ended meanwhile.
    private func rest(_ duration: Duration) async -> Bool {
        (try? await Task.sleep(for: duration)) != nil
    }

    private static func text(of event: ShownEvent) -> [UInt8] {
        var text = Array("id: \(event.position)\n".utf8)
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

/// How long a stream has been silent.
private struct Silence {
    let limit: Duration
    private var start = ContinuousClock.now

    init(limit: Duration) {
        self.limit = limit
    }

    /// What is left of it.
    var rest: Duration { max(.zero, limit - (ContinuousClock.now - start)) }

    var isOver: Bool { rest == .zero }

    mutating func end() {
        start = .now
    }
}
