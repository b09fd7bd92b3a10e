package import Ledger

/// Histories, computed by folding the whole log; nothing is signed.
extension InMemoryLedger: HistoryReader {
    /// Returns an account as of a moment.
    package func account(
        _ account: AccountID, asOf moment: Moment?, in tenant: TenantID
    ) async throws(HistoryFault) -> AccountAsOf? {
        let changes = try await changes(
            of: account, from: .time(Timestamp(seconds: 0)), to: moment, limit: 0,
            isDisclosing: false, in: tenant)
        return changes.map {
            AccountAsOf(
                account: $0.difference.to, basis: .log, asOf: $0.page.asOf, log: $0.page.log)
        }
    }

    /// Returns a page of an account's events, in order.
    package func history(
        of account: AccountID, after position: LogPosition?, asOf moment: Moment?, limit: Int,
        isDisclosing: Bool, in tenant: TenantID
    ) async throws(HistoryFault) -> HistoryPage? {
        let log = try log(of: tenant)
        let end = try Self.end(of: log, at: moment)
        let own = Self.events(of: account, in: log, isDisclosing: isDisclosing)
        guard !own.isEmpty else { return nil }
        let past = own.filter { $0.recorded.position.value < end }
        let rest = past.filter { $0.recorded.position > position ?? LogPosition(-1) }
        return HistoryPage(
            events: Array(rest.prefix(limit)),
            eventCount: rest.count > limit ? nil : Int64(past.count),
            basis: rest.count > limit ? nil : .log,
            asOf: Self.mark(of: log, before: end),
            log: LogExtent(size: Int64(log.count), signedSize: nil))
    }

    /// Returns an account at two moments, and the events in between.
    package func changes(
        of account: AccountID, from earlier: Moment, to later: Moment?, limit: Int,
        isDisclosing: Bool, in tenant: TenantID
    ) async throws(HistoryFault) -> AccountChanges? {
        let log = try log(of: tenant)
        let from = try Self.end(of: log, at: earlier)
        let to = try Self.end(of: log, at: later)
        guard from <= to else { throw .backwards }
        let own = Self.events(of: account, in: log, isDisclosing: isDisclosing)
        guard !own.isEmpty else { return nil }
        var before = ReplayedAccount(account, in: tenant)
        var between: [ReplayedEvent] = []
        var after = before
        for event in own where event.recorded.position.value < to {
            do {
                try after.apply(event.recorded, leaf: event.leaf)
            } catch {
                throw .damaged(error.description)
            }
            if event.recorded.position.value < from {
                before = after
            } else {
                between.append(event)
            }
        }
        let page = HistoryPage(
            events: Array(between.prefix(limit)),
            eventCount: between.count > limit ? nil : after.eventCount,
            basis: between.count > limit ? nil : .log,
            asOf: Self.mark(of: log, before: to),
            log: LogExtent(size: Int64(log.count), signedSize: nil))
        return AccountChanges(
            difference: AccountDifference(from: before, to: after),
            from: Self.mark(of: log, before: from), page: page)
    }

    /// Returns a page of the events of an account and of all accounts merged with it, in an order.
    package func timeline(
        of account: AccountID, _ order: ReadingOrder, after cursor: TimelineCursor?,
        asOf moment: Moment?, limit: Int, isDisclosing: Bool, in tenant: TenantID
    ) async throws(HistoryFault) -> TimelinePage? {
        let log = try log(of: tenant)
        let end = try Self.end(of: log, at: cursor.map { .position($0.asOf) } ?? moment)
        var fold = TimelineFold(
            of: account, in: tenant, after: cursor?.position, limit: limit, order: order)
        var disclosed: [LogPosition: DisclosedValues] = [:]
        while let wanted = fold.wanted {
            let own = Self.events(of: wanted, in: log, isDisclosing: true)
            guard !own.isEmpty else { return nil }
            for event in own where event.recorded.position.value < end {
                do {
                    try fold.apply(event.recorded, leaf: event.leaf)
                } catch {
                    throw .damaged(error.description)
                }
                if event.recorded.accounts.first?.id == wanted {
                    disclosed[event.recorded.position] = event.disclosed
                }
            }
            try fold.finish(.log)
        }
        var page = fold.page(
            asOf: Self.mark(of: log, before: end),
            log: LogExtent(size: Int64(log.count), signedSize: nil))
        if isDisclosing { page.disclose(disclosed) }
        return page
    }

    private func log(of tenant: TenantID) throws(HistoryFault) -> [Recording] {
        do {
            return try read(tenant)
        } catch {
            throw error == .internalFailure ? .damaged("") : .unavailable
        }
    }

    /// Returns the position after the last event at a moment.
    private static func end(
        of log: [Recording], at moment: Moment?
    ) throws(HistoryFault) -> Int64 {
        switch moment {
        case nil: return Int64(log.count)
        case .position(let position)?:
            guard position.value < log.count else { throw .notReached(size: Int64(log.count)) }
            return position.value + 1
        case .time(let time)?: return Int64(log.count { $0.recorded.recordedAt <= time })
        }
    }

    private static func mark(of log: [Recording], before end: Int64) -> LogMark? {
        log.prefix(Int(end)).last.map {
            LogMark(position: $0.recorded.position, recordedAt: $0.recorded.recordedAt)
        }
    }

    private static func events(
        of account: AccountID, in log: [Recording], isDisclosing: Bool
    ) -> [ReplayedEvent] {
        log.filter { $0.recorded.accounts.contains { $0.id == account } }.map { recording in
            var disclosed = DisclosedValues()
            if recording.recorded.accounts.first?.id == account {
                for (_, disclosure) in DisclosureList.split(
                    DisclosureList.join(recording.disclosures)) ?? []
                {
                    _ = disclosed.add(disclosure)
                }
            }
            return ReplayedEvent(
                recorded: recording.recorded, entry: recording.entry,
                leaf: leafHash(recording.entry), disclosed: isDisclosing ? disclosed : nil)
        }
    }
}
