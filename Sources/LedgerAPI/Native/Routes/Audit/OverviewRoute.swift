internal import HTTP
import JSON
internal import Ledger
internal import LedgerMessages

/// `GET /v1/overview`: the numbers of events by day, and the states of the ledger's parts.
struct OverviewRoute: Route {
    private static let daysMax: Int64 = 90
    private static let daysDefault = 30

    static let method = "GET"
    static let path = "/v1/overview"
    static let operation = Operation(
        id: "get_overview", tag: .log,
        summary: "The numbers of events by day, and the states of the ledger's parts",
        access: .principal(.readers),
        parameters: [
            Parameter(
                name: "days", schema: .integer(7, 1...daysMax),
                about: "The number of days in UTC up to today; \(daysDefault) by default",
                isInExample: true),
            ReasonHeader.parameter,
        ],
        answers: .json(OverviewAnswer.schema), refusals: [.proofFailed])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.readOverview)
        let parameters = try QueryParameters(call)
        let days = try parameters.value("days", "a number from 1 to \(Self.daysMax)") { text in
            LogPosition(digits: text).flatMap { number in
                (1...Self.daysMax).contains(number.value) ? Int(number.value) : nil
            }
        }
        try await auditRequest.record(parameters)
        let audit = call.services.audit
        do {
            return .json(
                OverviewAnswer(
                    overview: try await audit.overviews.overview(
                        days: days ?? Self.daysDefault, through: call.now, in: call.tenant),
                    conflicts: try await audit.conflicts.counts(in: call.tenant),
                    checkpoint: try await audit.proofs.latestCheckpoint(of: call.tenant)))
        } catch {
            throw error == .internalFailure ? .proofFailed : .faulted(error)
        }
    }
}

/// The figures and states of a ledger.
struct OverviewAnswer: JSONWritable {
    let overview: Overview
    let conflicts: ConflictCounts
    /// Nil before the first checkpoint.
    let checkpoint: SignedCheckpoint?

    static let schema: Schema = {
        let day = Schema.object(
            "DayFigures",
            [.required("day", .text("2026-11-26"), "In UTC"), .required("events", .number)],
            figures.map { .required($0.name, .number) },
            [.required("refusals", .number, "Conflicts included")])
        let webhook = Schema.object(
            "WebhookFigures",
            [
                .required("endpoint_id", .uuid(ExampleValue.session)),
                .required("disabled", .flag(false)), .required("lag", .number),
                .required("pending", .number), .required("dead_letters", .number),
            ])
        let projection = Schema.object(
            "ProjectionFigures",
            [
                .required("name", .text("user_providers")), .required("lag", .number),
                .optional("failure", .text("position 41: a fault"), "Why it has stopped"),
            ])
        return .object(
            "Overview",
            [
                .required("days", .list(day), "The earliest first"),
                .required("counted", .number, "The events that the days include"),
                .required("log_size", .number), .required("access_log_size", .number),
                .required(
                    "checkpoint",
                    Schema.object(
                        "LastCheckpoint",
                        [
                            .required("size", .number), .required("signed_at", .time),
                            .required("origin", .text("ledger.example/default")),
                        ]
                    ).orNull),
                .required("projections", .list(projection)),
                .required(
                    "conflicts",
                    .object(
                        "OverviewConflicts",
                        [
                            .required("open", .number), .required("reviewed", .number),
                            .required("more", .flag(false)),
                        ])),
                .required("webhooks", .list(webhook)),
                .required(
                    "messages",
                    .object(
                        "MessageFigures",
                        SentMessage.State.allCases.map { .required($0.rawValue, .number) }),
                    "The numbers of the last messages, by state"),
            ])
    }()

    /// The members of a day with the events that they count.
    private static let figures: [(name: String, count: @Sendable (DayFigures) -> Int64)] = [
        ("accounts", { $0.count(of: .accountOpened) }), ("sign_ins", { $0.count(of: .signedIn) }),
        ("links", { $0.count(of: .providerLinked) }),
        ("unlinks", { $0.count(of: .providerUnlinked) }),
        ("merges", { $0.count(of: .accountsMerged) }),
        ("erasures", { $0.count(of: .accountErased) }),
        ("conflicts", { $0.count(of: .conflictRejected) }),
    ]

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("days")
            writer.array { writer in
                for day in overview.days { Self.write(day, to: &writer) }
            }
            writer.named("counted", overview.countedSize)
            writer.named("log_size", overview.logSize)
            writer.named("access_log_size", overview.accessLogSize)
            writer.name("checkpoint")
            if let checkpoint {
                writer.object { writer in
                    writer.named("size", checkpoint.size)
                    writer.member("signed_at", checkpoint.signedAt.description)
                    writer.member("origin", checkpoint.origin)
                }
            } else {
                writer.null()
            }
            writeStates(to: &writer)
        }
    }

    private func writeStates(to writer: inout JSONWriter) {
        writer.name("projections")
        writer.array { writer in
            for projection in overview.projections {
                writer.object { writer in
                    writer.member("name", projection.name)
                    writer.named("lag", projection.lag)
                    writer.member("failure", projection.failure)
                }
            }
        }
        writer.name("conflicts")
        writer.object { writer in
            writer.named("open", conflicts.open)
            writer.named("reviewed", conflicts.reviewed)
            writer.name("more")
            writer.flag(conflicts.hasMore)
        }
        writer.name("webhooks")
        writer.array { writer in
            for webhook in overview.webhooks {
                writer.object { writer in
                    writer.named("endpoint_id", webhook.endpoint)
                    writer.name("disabled")
                    writer.flag(webhook.isDisabled)
                    writer.named("lag", webhook.lag)
                    writer.named("pending", webhook.pending)
                    writer.named("dead_letters", webhook.deadLetters)
                }
            }
        }
        writer.name("messages")
        writer.object { writer in
            for state in SentMessage.State.allCases {
                writer.named(state.rawValue, overview.messages[state.rawValue] ?? 0)
            }
        }
    }

    private static func write(_ day: DayFigures, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("day", day.day)
            writer.named("events", day.events)
            for (name, count) in figures { writer.named(name, count(day)) }
            writer.named("refusals", day.refusals)
        }
    }
}
