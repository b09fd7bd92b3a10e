import JSON
internal import Ledger
package import LedgerMessages

extension MessagePage {
    static let schema = Schema.object(
        "Messages",
        [
            .required("messages", .list(SentMessage.schema)),
            .optional(
                "next", .uuid(ExampleValue.session), "The last message examined, for `after`"),
            .required("more", .flag(false), "Whether further messages followed"),
        ])

    /// The answer of `GET /v1/audit/messages`.
    var json: [UInt8] {
        var writer = JSONWriter(reserving: 512 * (messages.count + 1))
        writer.object { writer in
            writer.name("messages")
            writer.array { writer in
                for message in messages { message.write(to: &writer) }
            }
            writer.member("next", next?.description)
            writer.name("more")
            writer.flag(hasMore)
        }
        return writer.bytes
    }
}

extension SentMessage {
    fileprivate static let schema = Schema.object(
        "Message",
        [
            .required("message_id", .uuid(ExampleValue.session)),
            .optional("account_id", .account),
            .required("channel", .choice(MessageChannel.allCases.map(\.rawValue))),
            .required("template", .choice(MessageTemplate.allCases.map(\.rawValue))),
            .required("language", .choice(MessageLanguage.allCases.map(\.rawValue))),
            .required("state", .choice(State.allCases.map(\.rawValue))),
            .required("created_at", .time), .required("expires_at", .time),
            .optional("ended_at", .time, "When it was sent, failed, expired or was withdrawn"),
            .required("attempts", .number),
            .optional("response_code", .number, "The code of the last answer"),
            .optional("fault", .text("busy"), "Why the last attempt had no final answer"),
        ])

    /// The message as one object, also printed by the command line.
    package var json: [UInt8] {
        var writer = JSONWriter(reserving: 512)
        write(to: &writer)
        return writer.bytes
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("message_id", id.description)
            writer.member("account_id", account?.description)
            writer.member("channel", channel)
            writer.member("template", template)
            writer.member("language", language)
            writer.member("state", state.rawValue)
            writer.member("created_at", createdAt.description)
            writer.member("expires_at", expiresAt.description)
            writer.member("ended_at", endedAt?.description)
            writer.named("attempts", Int64(attempts))
            if let responseCode { writer.named("response_code", Int64(responseCode)) }
            writer.member("fault", fault)
        }
    }
}
