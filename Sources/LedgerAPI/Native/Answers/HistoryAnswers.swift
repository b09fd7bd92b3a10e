import JSON
package import Ledger

extension ResolvedAccount {
    /// The maximum number of sessions in a response, the most recently opened ones.
    static let sessionsMax = 100

    /// The answer of `GET /v1/accounts/{id}` without personal data, also printed by the command
    /// line.
    package var json: [UInt8] { json(disclosing: nil) }

    /// The answer of `GET /v1/accounts/{id}`.
    package func json(disclosing data: AccountPersonalData?) -> [UInt8] {
        var writer = JSONWriter(reserving: 4096)
        writer.object { writer in
            writer.named("account", found.account.id)
            if requested != found.account.id {
                writer.named("requested", requested)
                writer.named("merged_into", found.account.id)
            }
            writer.named("as_of", found.asOf)
            writer.members(of: found.account, disclosing: data)
            writer.named("rests_on", found.basis)
            writer.named("log", found.log)
        }
        return writer.bytes
    }
}

extension HistoryPage {
    /// The answer of `GET /v1/accounts/{id}/history`: events, the next position, and what they
    /// prove.
    package func json(of account: AccountID) -> [UInt8] {
        var writer = JSONWriter(reserving: 2048 * (events.count + 1))
        writer.object { writer in
            writer.named("account", account)
            writer.named("events", events, of: account)
            writer.member("next", events.last?.recorded.position.description)
            writer.name("more")
            writer.flag(eventCount == nil)
            writer.name("completeness")
            completeness(of: account, to: &writer)
        }
        return writer.bytes
    }

    /// Writes what was checked, and up to which event.
    fileprivate func completeness(of account: AccountID, to writer: inout JSONWriter) {
        let sequences = events.compactMap { event in
            event.recorded.accounts.first { $0.id == account }?.sequence
        }
        writer.object { writer in
            writer.named("from_seq", sequences.first)
            writer.named("through_seq", sequences.last)
            writer.name("chained")
            writer.flag(true)
            writer.name("complete")
            writer.flag(eventCount != nil)
            writer.named("events", eventCount)
            writer.named("rests_on", basis)
            writer.named("as_of", asOf)
            writer.named("log", log)
            writer.member("statement", statement(from: sequences.first, through: sequences.last))
        }
    }

    /// Claims no more than was checked: of the events before the page, only the last one was read.
    private func statement(from first: Int64?, through last: Int64?) -> String {
        let limit = asOf.map { "position \($0.position)" } ?? "before the first event"
        let evidence =
            basis == .decisionState
            ? "; that no event follows rests on decision state, not on the log alone" : ""
        guard let first, let last else {
            let which = eventCount == 0 ? "No event" : "No further event"
            return "\(which) touches the account up to \(limit)\(evidence)"
        }
        guard let eventCount else {
            return "seq \(first) to \(last), each naming the one before it; more may follow"
        }
        guard first == 0 else {
            return "seq \(first) to \(last), each naming the one before it, and no further event"
                + " touches the account up to \(limit)\(evidence); the page begins after seq"
                + " \(first - 1), and proves nothing about earlier events"
        }
        return "Exactly \(eventCount) events touch the account up to \(limit): seq 0 to"
            + " \(last), each naming the one before it\(evidence)"
    }
}

extension AccountChanges {
    /// The answer of `GET /v1/accounts/{id}/diff`, also printed by the command line.
    package var json: [UInt8] {
        let account = difference.to.id
        var writer = JSONWriter(reserving: 2048 * (page.events.count + 2))
        writer.object { writer in
            writer.named("account", account)
            writer.named("from", from)
            writer.named("to", page.asOf)
            writer.name("added_links")
            writer.array { writer in
                for link in difference.addedLinks { writer.link(link) }
            }
            writer.name("removed_links")
            writer.array { writer in
                for link in difference.removedLinks { writer.link(link) }
            }
            writer.named("opened_sessions", difference.openedSessions)
            writer.named("ended_sessions", difference.endedSessions)
            for (name, moment) in [("before", difference.from), ("after", difference.to)] {
                writer.name(name)
                writer.object { $0.members(of: moment) }
            }
            writer.named("events", page.events, of: account)
            // Where there are more, the history lists them.
            writer.name("more")
            writer.flag(page.eventCount == nil)
            writer.named("rests_on", page.basis)
            writer.named("log", page.log)
        }
        return writer.bytes
    }
}

extension JSONWriter {
    /// Writes the state of an account at one moment.
    fileprivate mutating func members(
        of account: ReplayedAccount, disclosing data: AccountPersonalData? = nil
    ) {
        member("status", account.status.rawValue)
        named("opened", account.opened)
        named("erased", account.erased)
        named("last_event", account.last)
        named("event_count", account.eventCount)
        name("linked_providers")
        texts(account.linkedProviders.map(\.description))
        name("links")
        array { writer in
            for link in account.links {
                writer.link(
                    link, unlinkDue: account.unlinkDues[link.identity],
                    email: data?.emails[link.identity], name: data?.names[link.identity])
            }
        }
        name("ways_to_sign_in")
        number(Int64(account.status == .disabled ? 0 : account.links.count))
        name("session_count")
        number(Int64(account.sessionCount))
        named("sessions", account.sessions)
        name("second_factors")
        texts(account.secondFactors.map(\.description))
        name("factors")
        array { writer in
            for factor in account.factors { writer.factor(factor) }
        }
        name("absorbed")
        texts(account.merges.map(\.absorbed.description))
        name("merges")
        array { writer in
            for merge in account.merges { writer.merge(merge) }
        }
        name("external_ids")
        array { writer in
            for name in account.names {
                writer.object { writer in
                    writer.member("source", name.source.description)
                    writer.named("position", name.position)
                }
            }
        }
        name("legal_holds")
        texts(account.holds.map(\.description))
        name("holds")
        array { writer in
            for hold in account.placedHolds {
                writer.hold(hold, reason: data?.holdReasons[hold.hold])
            }
        }
    }

    private mutating func factor(_ factor: HeldFactor) {
        object { writer in
            writer.named("factor_id", factor.id)
            writer.member("type", factor.kind.rawValue)
            writer.named("position", factor.position)
            writer.member("removal_due", factor.removalDue?.description)
        }
    }

    private mutating func merge(_ merge: Merge) {
        object { writer in
            writer.named("absorbed", merge.absorbed)
            writer.named("event_id", merge.id)
            writer.named("position", merge.position)
        }
    }

    private mutating func hold(_ hold: PlacedHold, reason: String?) {
        object { writer in
            writer.named("hold", hold.hold)
            writer.member("set_at", hold.mark.recordedAt.description)
            writer.named("position", hold.mark.position)
            writer.named("event_id", hold.event)
            writer.member("reason", reason)
        }
    }

    mutating func link(
        _ link: Account.Link, unlinkDue: Timestamp? = nil, email: Email? = nil,
        name: IdentityName? = nil
    ) {
        object { writer in
            writer.named("identity_id", link.identity)
            writer.member("provider", link.provider.description)
            writer.member("linked_at", link.linkedAt.description)
            writer.named("position", link.position)
            writer.member("unlink_due", unlinkDue?.description)
            writer.member("name", name?.description)
            guard let email else { return }
            writer.member("email", email.address)
            writer.name("email_verified")
            writer.flag(email.isVerified)
        }
    }

    fileprivate mutating func named(_ name: String, _ sessions: [Session]) {
        self.name(name)
        array { writer in
            for session in sessions.suffix(ResolvedAccount.sessionsMax) {
                writer.object { writer in
                    writer.named("session_id", session.id)
                    writer.named("identity_id", session.identity)
                    writer.member("opened_at", session.openedAt.description)
                    writer.named("position", session.openedPosition)
                }
            }
        }
    }

    fileprivate mutating func named(
        _ name: String, _ events: [ReplayedEvent], of account: AccountID
    ) {
        self.name(name)
        array { writer in
            for event in events {
                writer.object { writer in
                    let sequence = event.recorded.accounts.first { $0.id == account }?.sequence
                    writer.named("seq", sequence)
                    ShownEvent(event).writeMembers(to: &writer)
                }
            }
        }
    }

    mutating func named(_ name: String, _ basis: HistoryBasis?) {
        self.name(name)
        guard let basis else { return null() }
        text(basis.rawValue)
    }

    mutating func named<Kind>(_ name: String, _ id: EntityID<Kind>) {
        self.name(name)
        text(id.description)
    }

    mutating func named(_ name: String, _ mark: LogMark?) {
        self.name(name)
        guard let mark else { return null() }
        object { writer in
            writer.named("position", mark.position)
            writer.member("recorded_at", mark.recordedAt.description)
        }
    }

    mutating func named(_ name: String, _ log: LogExtent) {
        self.name(name)
        object { writer in
            writer.named("size", log.size)
            writer.named("signed_size", log.signedSize)
        }
    }

    mutating func named(_ name: String, _ position: LogPosition?) {
        named(name, position?.value)
    }

    /// Writes a 64-bit number as a string, as entries do.
    mutating func named(_ name: String, _ number: Int64?) {
        self.name(name)
        guard let number else { return null() }
        text(String(number))
    }
}

extension ShownEvent {
    fileprivate init(_ event: ReplayedEvent) {
        self.init(
            position: event.recorded.position, entry: event.entry, recorded: event.recorded,
            damage: nil,
            disclosures: event.disclosed?.values.map { Disclosure($0.name, $0.value) })
    }
}
