import JSON
package import Ledger

extension ConflictPage {
    static let schema = Schema.object(
        "Conflicts",
        [.required("conflicts", .list(Conflict.schema))], .cursor,
        [
            .required(
                "folded",
                .object(
                    "Folded",
                    [
                        .required("size", .number, "The events that the list covers"),
                        .required("log_size", .number, "The events in the log"),
                    ]))
        ])

    /// The answer of `GET /v1/conflicts`.
    package var json: [UInt8] {
        var writer = JSONWriter(reserving: 1024 * (page.elements.count + 1))
        writer.object { writer in
            writer.name("conflicts")
            writer.array { writer in
                for conflict in page.elements { conflict.write(to: &writer) }
            }
            writer.cursor(of: page)
            writer.name("folded")
            writer.object { writer in
                writer.named("size", foldedSize)
                writer.named("log_size", logSize)
            }
        }
        return writer.bytes
    }
}

extension Conflict {
    fileprivate static let schema: Schema = {
        let party = Schema.object(
            "Party",
            [
                .optional("then", .account, "The account at the time of the conflict"),
                .optional("now", .account, "The account that stands for it now"),
            ])
        let mark: [Property] = [
            .required("position", .number), .required("recorded_at", .time),
            .required("event_id", .event),
        ]
        let attempt = Schema.object("Attempt", mark)
        let resolution = Schema.object(
            "Resolution",
            mark,
            [
                .required("type", .text("ProviderUnlinked")),
                .required("actor", .text("account:\(ExampleValue.account)")),
            ])
        return .object(
            "Conflict",
            [
                .required("state", .choice([State.open.rawValue, State.resolved.rawValue])),
                .required(
                    "reason", .choice(ConflictRejected.Reason.allCases.map(\.rawValue))),
                .required("provider", .provider), .optional("identity_id", .identity),
                .required("caller", party), .required("holder", party),
                .required("attempts", .number), .required("first_attempt", attempt),
                .required("last_attempt", attempt), .optional("resolved_by", resolution),
            ])
    }()

    /// The conflict as one object, also printed by the command line.
    package var json: [UInt8] {
        var writer = JSONWriter(reserving: 1024)
        write(to: &writer)
        return writer.bytes
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("state", state.rawValue)
            writer.member("reason", reason.rawValue)
            writer.member("provider", provider.description)
            writer.member("identity_id", identity?.description)
            writer.name("caller")
            writer.party(caller, now: callerNow)
            writer.name("holder")
            writer.party(holder, now: holderNow)
            writer.named("attempts", attempts)
            writer.name("first_attempt")
            writer.object { $0.members(of: first) }
            writer.name("last_attempt")
            writer.object { $0.members(of: last) }
            guard let resolution else { return }
            writer.name("resolved_by")
            writer.object { writer in
                writer.members(of: resolution.mark)
                writer.member("type", resolution.type)
                writer.member("actor", resolution.actor)
            }
        }
    }
}

extension JSONWriter {
    /// Writes the account at the time of the conflict and the account that stands for it now.
    fileprivate mutating func party(_ then: AccountID?, now: AccountID?) {
        object { writer in
            writer.member("then", then?.description)
            writer.member("now", now?.description)
        }
    }

    fileprivate mutating func members(of mark: Conflict.Mark) {
        named("position", mark.position)
        member("recorded_at", mark.recordedAt.description)
        member("event_id", mark.event.description)
    }
}
