import JSON
package import Ledger

extension ConflictPage {
    static let schema = Schema.object(
        "Conflicts",
        [.required("conflicts", .list(Conflict.schema))], .cursor,
        [
            .required("folded", ConflictExtent.schema)
        ])

    /// The answer of `GET /v1/conflicts`, to a role that may see notes or not.
    package func json(showingNotes: Bool) -> [UInt8] {
        var writer = JSONWriter(reserving: 1024 * (page.elements.count + 1))
        writer.object { writer in
            writer.name("conflicts")
            writer.array { writer in
                for conflict in page.elements {
                    let review = reviews[conflict.first.position]
                    conflict.write(to: &writer, review, showingNotes: showingNotes)
                }
            }
            writer.cursor(of: page)
            writer.extent(extent)
        }
        return writer.bytes
    }
}

extension ReviewedConflict {
    static let schema = Schema.object(
        "OneConflict",
        [.required("conflict", Conflict.schema), .required("folded", ConflictExtent.schema)])

    /// The answer of `GET /v1/conflicts/{event_id}`, to a role that may see notes or not.
    func json(showingNotes: Bool, _ extent: ConflictExtent) -> [UInt8] {
        var writer = JSONWriter(reserving: 2048)
        writer.object { writer in
            writer.name("conflict")
            conflict.write(to: &writer, review, showingNotes: showingNotes)
            writer.extent(extent)
        }
        return writer.bytes
    }
}

extension ConflictCounts {
    static let schema = Schema.object(
        "ConflictCounts",
        [
            .required("open", .number, "The open conflicts, with a note or without one"),
            .required("resolved", .number),
            .required("reviewed", .number, "The open conflicts with a note"),
            .required("more", .flag(false), "Whether there are older ones, which are not counted"),
            .required("folded", ConflictExtent.schema),
        ])

    /// The answer of `GET /v1/conflicts/counts`.
    var json: [UInt8] {
        var writer = JSONWriter(reserving: 256)
        writer.object { writer in
            writer.named("open", open)
            writer.named("resolved", resolved)
            writer.named("reviewed", reviewed)
            writer.name("more")
            writer.flag(hasMore)
            writer.extent(extent)
        }
        return writer.bytes
    }
}

extension ConflictExtent {
    fileprivate static let schema = Schema.object(
        "Folded",
        [
            .required("size", .number, "The events that the answer covers"),
            .required("log_size", .number, "The events in the log"),
        ])
}

extension ConflictReview {
    fileprivate static let schema = Schema.object(
        "ConflictReview",
        [
            .optional("note", .text("Two people, both answered"), "To support and admin"),
            .required("by", .text("api_key:\(ExampleValue.session)")), .required("at", .time),
        ])
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
                .required("event_id", .event, "The first attempt, which names the conflict"),
                .required("state", .choice([State.open.rawValue, State.resolved.rawValue])),
                .required(
                    "reason", .choice(ConflictRejected.Reason.allCases.map(\.rawValue))),
                .required("provider", .provider), .optional("identity_id", .identity),
                .required("caller", party), .required("holder", party),
                .required("attempts", .number), .required("first_attempt", attempt),
                .required("last_attempt", attempt), .optional("resolved_by", resolution),
                .optional("review", ConflictReview.schema, "A note since the last attempt"),
            ])
    }()

    /// The conflict as one object, also printed by the command line.
    package var json: [UInt8] {
        var writer = JSONWriter(reserving: 1024)
        write(to: &writer, nil, showingNotes: false)
        return writer.bytes
    }

    fileprivate func write(
        to writer: inout JSONWriter, _ review: ConflictReview?, showingNotes: Bool
    ) {
        writer.object { writer in
            writer.member("event_id", first.event.description)
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
            if let resolution {
                writer.name("resolved_by")
                writer.object { writer in
                    writer.members(of: resolution.mark)
                    writer.member("type", resolution.type)
                    writer.member("actor", resolution.actor)
                }
            }
            guard let review else { return }
            writer.name("review")
            writer.object { writer in
                if showingNotes { writer.member("note", review.note) }
                writer.member("by", review.principal)
                writer.member("at", review.at.description)
            }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func extent(_ extent: ConflictExtent) {
        name("folded")
        object { writer in
            writer.named("size", extent.foldedSize)
            writer.named("log_size", extent.logSize)
        }
    }

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
