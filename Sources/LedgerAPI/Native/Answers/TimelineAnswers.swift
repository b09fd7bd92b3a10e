import JSON
package import Ledger

extension TimelinePage {
    /// The answer of `GET /v1/accounts/{id}/timeline`: rows, the next cursor, and what they prove.
    package var json: [UInt8] {
        var writer = JSONWriter(reserving: 1024 * (rows.count + 2))
        writer.object { writer in
            writer.named("account", survivor)
            if requested != survivor {
                writer.named("requested", requested)
                writer.named("merged_into", survivor)
            }
            writer.name("accounts")
            writer.array { writer in
                for account in accounts { writer.timelineAccount(account) }
            }
            writer.name("rows")
            writer.array { writer in
                for row in rows { row.write(to: &writer) }
            }
            writer.member("next", next?.description)
            writer.name("more")
            writer.flag(hasMore)
            writer.name("completeness")
            completeness(to: &writer)
        }
        return writer.bytes
    }

    private func completeness(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("chained")
            writer.flag(true)
            writer.name("complete")
            writer.flag(!hasMore)
            writer.named("events", eventCount)
            writer.named("rests_on", basis)
            writer.named("as_of", asOf)
            writer.named("log", log)
            writer.member("statement", statement)
        }
    }

    /// One sentence about what was checked of all histories; the page shows a part of them.
    package var statement: String {
        let limit = asOf.map { "position \($0.position)" } ?? "before the first event"
        let scope = accounts.count == 1 ? "the account" : "these \(accounts.count) accounts"
        let chain = "of each account from seq 0 on, each naming the one before it"
        let evidence =
            basis == .decisionState
            ? "; that no event follows rests on decision state, not on the log alone" : ""
        let rest = hasMore ? "; more of them follow on the next page" : ""
        return
            "Exactly \(eventCount) events touch \(scope) up to \(limit): \(chain)\(evidence)\(rest)"
    }
}

extension TimelineRow {
    /// The row as one object, also printed by the command line.
    package var json: [UInt8] {
        var writer = JSONWriter(reserving: 1024)
        write(to: &writer)
        return writer.bytes
    }

    fileprivate func write(to writer: inout JSONWriter) {
        let fact = recorded.event.fact
        let attributes = fact.attributes
        writer.object { writer in
            writer.named("position", recorded.position)
            writer.member("recorded_at", recorded.recordedAt.description)
            writer.named("event_id", recorded.id)
            writer.member("type", recorded.event.name.rawValue)
            writer.name("accounts")
            writer.array { writer in
                for reference in recorded.accounts { part(of: reference, to: &writer) }
            }
            writer.name("actor")
            writer.actor(recorded.actor)
            writer.member("verb", fact.verb)
            writer.member("provider", attributes.provider?.description)
            writer.member("identity_id", attributes.identity?.description)
            writer.member("outcome", fact.outcome.rawValue)
            writer.member("reason", attributes.reason)
            guard let disclosed else { return }
            writer.name("disclosures")
            writer.object { writer in
                for (name, value) in disclosed.values { writer.member(name.rawValue, value) }
            }
        }
    }

    /// Writes an account's part in the event; of an account outside of the timeline, only that the
    /// event touches it.
    private func part(of reference: AccountReference, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.named("account", reference.id)
            writer.named("seq", reference.sequence)
            guard let change = changes[reference.id] else { return }
            writer.links("before", change.before)
            writer.links("after", change.after)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func links(_ name: String, _ links: [Account.Link]) {
        self.name(name)
        array { writer in
            for link in links {
                writer.object { writer in
                    writer.named("identity_id", link.identity)
                    writer.member("provider", link.provider.description)
                }
            }
        }
    }

    fileprivate mutating func actor(_ actor: Actor) {
        object { writer in
            switch actor {
            case .account(let account, let session):
                writer.member("kind", "account_holder")
                writer.named("account", account)
                writer.member("session_id", session?.description)
            case .principal(let principal):
                writer.member("kind", principal.kind.rawValue)
                writer.named(principal.kind == .staff ? "staff" : "key", principal.id)
                writer.member("role", principal.role.rawValue)
            case .system:
                writer.member("kind", "system")
            }
        }
    }

    fileprivate mutating func timelineAccount(_ account: TimelineAccount) {
        object { writer in
            writer.named("account", account.id)
            writer.member("status", account.status.rawValue)
            writer.member("merged_into", account.mergedInto?.description)
            writer.named("opened", account.opened)
            writer.named("events", account.eventCount)
            writer.named("rests_on", account.basis)
        }
    }
}
