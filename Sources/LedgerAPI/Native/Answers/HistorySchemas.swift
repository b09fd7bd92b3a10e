internal import Ledger

extension Schema {
    fileprivate static let status = text("open")
    private static let session = object(
        "OpenSession",
        [
            .required("session_id", .uuid(ExampleValue.session)),
            .required("identity_id", .identity), .required("opened_at", .time),
            .required("position", .number),
        ])
    fileprivate static let sessions = list(session)
    fileprivate static let links = list(link)
    fileprivate static let factors = list(
        object(
            "AccountFactor",
            [
                .required("factor_id", .factor),
                .required("type", .choice(FactorKind.allCases.map(\.rawValue))),
                .required("position", .number, "Where it was enrolled"),
                .optional("removal_due", .time, "When it is removed, as support planned"),
            ]))
    fileprivate static let merges = list(
        object(
            "AccountMerge",
            [
                .required("absorbed", .account), .required("event_id", .event),
                .required("position", .number),
            ]))
    fileprivate static let externalIDs = list(
        object(
            "AccountExternalID",
            [
                .required("source", .nameSource),
                .required("position", .number, "The event that discloses the id"),
            ]))
    fileprivate static let holds = list(
        object(
            "AccountHold",
            [
                .required("hold", .uuid(ExampleValue.hold)), .required("set_at", .time),
                .required("position", .number), .required("event_id", .event),
                .optional("reason", .text("case 1"), "With `disclose=true`: why it was set"),
            ]))
    /// An event in the history of one account.
    fileprivate static let historyEvents = list(
        object(
            "HistoryEvent",
            [.required("seq", .number.orNull, "The account's own number of it")],
            ShownEvent.properties))
}

extension [Property] {
    /// The state of an account at a moment.
    fileprivate static let accountState: [Property] = [
        .required("status", .status), .required("opened", .logMark.orNull),
        .required("erased", .logMark.orNull), .required("last_event", .logMark.orNull),
        .required("event_count", .number), .required("linked_providers", .providers),
        .required("links", .links), .required("ways_to_sign_in", .integer(2)),
        .required("session_count", .integer(1)), .required("sessions", .sessions),
        .required("absorbed", .list(.account)),
        .required(
            "second_factors", .list(.factor), "The factors that every sign-in needs one of"),
        .required("factors", .factors), .required("merges", .merges),
        .required("external_ids", .externalIDs),
        .required("legal_holds", .list(.uuid(ExampleValue.hold))), .required("holds", .holds),
    ]
    /// The members for an account that was merged into another one.
    fileprivate static let merged: [Property] = [
        .optional("requested", .account, "The account of the path, if it was merged"),
        .optional("merged_into", .account, "The account that stands for it"),
    ]
    /// The members that say how far a statement goes.
    fileprivate static let extent: [Property] = [
        .required("rests_on", .basis.orNull), .required("as_of", .logMark.orNull),
        .required("log", .logExtent),
    ]
    fileprivate static let checks: [Property] = [
        .required("chained", .flag(true)), .required("complete", .flag(true)),
        .required("events", .number.orNull),
    ]
    fileprivate static let statement: [Property] = [
        .required("statement", .text("Exactly 2 events touch the account ..."))
    ]
}

extension ResolvedAccount {
    static let schema = Schema.object(
        "AccountAsOf",
        [.required("account", .account)], .merged, .extent, .accountState)
}

extension HistoryPage {
    static let schema = Schema.object(
        "AccountHistory",
        [.required("account", .account), .required("events", .historyEvents)], .cursor,
        [
            .required(
                "completeness",
                .object(
                    "Completeness",
                    [
                        .required("from_seq", .number.orNull),
                        .required("through_seq", .number.orNull),
                    ], .checks, .extent, .statement))
        ])
}

extension AccountChanges {
    static let schema = Schema.object(
        "AccountDiff",
        [
            .required("account", .account), .required("from", .logMark.orNull),
            .required("to", .logMark.orNull), .required("added_links", .links),
            .required("removed_links", .links), .required("opened_sessions", .sessions),
            .required("ended_sessions", .sessions),
            .required("before", .object("AccountState", .accountState)),
            .required("after", .object("AccountState", .accountState)),
            .required("events", .historyEvents),
            .required("more", .flag(false)), .required("rests_on", .basis.orNull),
            .required("log", .logExtent),
        ])
}

extension TimelinePage {
    static let schema: Schema = {
        let account = Schema.object(
            "TimelineAccount",
            [
                .required("account", .account), .required("status", .status),
                .optional("merged_into", .account), .required("opened", .logMark.orNull),
                .required("events", .number), .required("rests_on", .basis),
            ])
        return .object(
            "AccountTimeline",
            [.required("account", .account)], .merged,
            [
                .required("accounts", .list(account)),
                .required("rows", .list(TimelineRow.schema)),
                .optional("next", .text("41-42"), "For `after` of the next page"),
                .required("more", .flag(false)),
                .required(
                    "completeness",
                    .object("TimelineCompleteness", .checks, .extent, .statement)),
            ])
    }()
}

extension TimelineRow {
    fileprivate static let schema: Schema = {
        let identity = Schema.object(
            "LinkedIdentity",
            [.required("identity_id", .identity), .required("provider", .provider)]
        )
        let part = Schema.object(
            "AccountPart",
            [
                .required("account", .account), .required("seq", .number),
                .optional("before", .list(identity), "Its identities before the event"),
                .optional("after", .list(identity), "Its identities after the event"),
            ])
        let actor = Schema.object(
            "Actor",
            [
                .required("kind", .choice(["account_holder", "api_key", "staff", "system"])),
                .optional("account", .account),
                .optional("session_id", .uuid(ExampleValue.session)),
                .optional("key", .uuid(ExampleValue.session)),
                .optional("staff", .uuid(ExampleValue.session), "A person of the staff"),
                .optional("role", .role),
            ])
        return .object(
            "TimelineRow",
            [
                .required("position", .number), .required("recorded_at", .time),
                .required("event_id", .event), .required("type", .text("SignedIn")),
                .required("accounts", .list(part)), .required("actor", actor),
                .required("verb", .text("signed in")), .optional("provider", .provider),
                .optional("identity_id", .identity), .required("outcome", .text("accepted")),
                .optional("reason", .text("held_by_other")),
                .optional(
                    "disclosures", .map(.text("grace@example.com")), "Personal data, by its name"),
            ])
    }()
}
