internal import HTTP
import JSON
internal import Ledger

/// One client's stream of events.
struct EventStreamWriter: Sendable {
    /// The time that a client waits before it reconnects, in milliseconds.
    private static let retryMilliseconds = 2_000
    /// The pause after a failed read.
    private static let faultPause = Duration.seconds(1)

    let tenant: TenantID
    let tenants: any TenantDirectory
    let streams: EventStreams
    /// The slot that the stream occupies while it runs.
    let slot: EventStreams.Slot
    let auditRequest: AuditRequest
    let query: EventQuery
    /// The last event that the client has seen; nil at the beginning of the log.
    let seen: StreamEventID?

    /// Writes events until the client disconnects, the server stops, the key is no longer valid, the tenant
    /// is moved, or the last event of the stream was replaced.
    func run(into stream: HTTPStream) async {
        var query = query
        var keepAlive = Interval(limit: streams.pace.heartbeat)
        /// The id of the last position that was read.
        var lastRead = seen
        /// The last id that the client has received.
        var lastSent = query.after
        /// The interval between ids that are sent without an event.
        var idInterval = Interval(limit: streams.pace.poll)
        guard await stream.write(Array("retry: \(Self.retryMilliseconds)\n\n".utf8)) else { return }
        while true {
            guard await isAlive(stream, &keepAlive), await !isMoved() else { return }
            let count = streams.watch.count
            let page: CursorPage<ShownEvent>
            do {
                page = try await streams.events.events(
                    matching: query, in: tenant, isDisclosing: false)
            } catch {
                // The stream stays open: the client would only reconnect, and some never do after a
                // 503.
                guard await pause(Self.faultPause) else { return }
                continue
            }
            let end = page.cursor.map { LogPosition($0) } ?? query.after
            if let last = lastRead, last.position != end, await isReplaced(last) { return }
            for event in page.elements {
                // A slow client may take longer to read a page than its key is valid.
                guard await isAlive(stream, &keepAlive), await stream.write(Self.text(of: event))
                else { return }
                lastSent = event.position
            }
            query.after = end
            if let last = query.after, last != lastRead?.position {
                let event = page.elements.last { $0.position == last }
                lastRead = if let event { StreamEventID(event) } else { await eventID(at: last) }
            }
            if let last = lastRead, last.position != lastSent, idInterval.isOver {
                // An id without an event: a client that waits for rare events then does not resume
                // before them.
                guard await stream.write(Array("id: \(last)\n\n".utf8)) else { return }
                lastSent = last.position
                idInterval.begin()
            }
            if !page.hasMore {
                guard await pause(streams.pace.gather) else { return }
                let limit = min(streams.pace.poll, keepAlive.remaining)
                await streams.watch.wait(since: count, atMost: limit)
            }
        }
    }

    /// Whether the tenant is served elsewhere, where the client has to go on.
    private func isMoved() async -> Bool {
        do throws(LedgerFault) {
            _ = try await tenants.contains(tenant)
            return false
        } catch {
            return error == .tenantMoved
        }
    }

    /// At intervals, writes a comment and checks the key again; false when the stream must end.
    ///
    /// A key that cannot be checked counts as valid.
    private func isAlive(_ stream: HTTPStream, _ keepAlive: inout Interval) async -> Bool {
        guard keepAlive.isOver else { return true }
        keepAlive.begin()
        guard (try? await auditRequest.isAuthorized()) ?? true else { return false }
        return await stream.write(Array(":\n\n".utf8))
    }

    /// Whether the log has another event at a position now, as after a failover that lost some: the client would
    /// miss those that replaced them, and finds out when it reconnects.
    private func isReplaced(_ last: StreamEventID) async -> Bool {
        guard let event = last.event, let present = await eventID(at: last.position).event else {
            return false
        }
        return present != event
    }

    /// Returns the id of the position up to which the client has seen everything; without the event
    /// id when that cannot be read.
    private func eventID(at position: LogPosition) async -> StreamEventID {
        var query = EventQuery(limit: 1)
        query.after = position.value > 0 ? LogPosition(position.value - 1) : nil
        let page = try? await streams.events.events(
            matching: query, in: tenant, isDisclosing: false)
        let found = page?.elements.first.flatMap { $0.position == position ? $0 : nil }
        return found.map { StreamEventID($0) } ?? StreamEventID(position: position, event: nil)
    }

    /// Waits; false when the stream has ended meanwhile.
    private func pause(_ duration: Duration) async -> Bool {
        (try? await Task.sleep(for: duration)) != nil
    }

    private static func text(of event: ShownEvent) -> [UInt8] {
        var text = Array("id: \(StreamEventID(event))\n".utf8)
        if let recorded = event.recorded { text += "event: \(recorded.event.name.rawValue)\n".utf8 }
        text += "data: ".utf8
        var writer = JSONWriter()
        writer.object { event.writeMembers(to: &$0) }
        // The text has no line breaks: those in strings are escaped.
        text += writer.bytes
        text += "\n\n".utf8
        return text
    }
}

/// A recurring interval.
private struct Interval {
    let limit: Duration
    private var start = ContinuousClock.now

    init(limit: Duration) {
        self.limit = limit
    }

    /// The time until the interval ends.
    var remaining: Duration { max(.zero, limit - (ContinuousClock.now - start)) }

    var isOver: Bool { remaining == .zero }

    mutating func begin() {
        start = .now
    }
}
