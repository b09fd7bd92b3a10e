import JSON
package import Ledger

extension SearchResult {
    static let schema: Schema = {
        let matches = Schema.list(.choice(SearchMatch.allCases.map(\.rawValue)))
        let account = Schema.object(
            "FoundAccount",
            [
                .required("id", .account), .required("state", .text("live")),
                .optional("merged_into", .account), .required("absorbed", .list(.account)),
                .required("linked_providers", .providers), .required("matched_by", matches),
            ])
        let identity = Schema.object(
            "FoundIdentity",
            [
                .required("identity_id", .identity), .required("provider", .provider),
                .required("linked", .flag(true)),
                .optional("account", .account, "The account that has it"),
                .optional("last_account", .account, "The account that had it last"),
                .optional("email_verified", .flag(true).orNull),
                .required("matched_by", matches),
            ])
        let event = Schema.object(
            "FoundEvent",
            [
                .required("event_id", .event), .required("position", .number),
                .required("type", .text("SignedIn")), .required("outcome", .text("accepted")),
                .required("recorded_at", .time), .required("accounts", .list(.account)),
                .optional("request", .uuid(ExampleValue.session)),
                .required("matched_by", matches),
            ])
        return .object(
            "SearchResult",
            [
                .required("accounts", .list(account)), .required("identities", .list(identity)),
                .required("events", .list(event)),
                .optional(
                    "request_accounts", .integer(1), "How many accounts a request concerns"),
                .required("more", .flag(false)),
            ])
    }()

    /// The answer of `GET /v1/search`, also printed by the command line: ids only.
    package var json: [UInt8] {
        var writer = JSONWriter(reserving: 4096)
        writer.object { writer in
            writer.name("accounts")
            writer.array { writer in
                for account in accounts { writer.object { account.writeMembers(to: &$0) } }
            }
            writer.name("identities")
            writer.array { writer in
                for identity in identities { writer.object { identity.writeMembers(to: &$0) } }
            }
            writer.name("events")
            writer.array { writer in
                for event in events { writer.object { event.writeMembers(to: &$0) } }
            }
            if let requestAccounts {
                writer.name("request_accounts")
                writer.number(Int64(requestAccounts))
            }
            writer.name("more")
            writer.flag(hasMore)
        }
        return writer.bytes
    }
}

extension FoundAccount {
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.member("id", id.description)
        writer.member("state", state.rawValue)
        writer.member("merged_into", mergedInto?.description)
        writer.name("absorbed")
        writer.texts(absorbed.map(\.description))
        writer.name("linked_providers")
        writer.texts(linkedProviders.map(\.description))
        writer.matches(matchedBy)
    }
}

extension FoundIdentity {
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.member("identity_id", id.description)
        writer.member("provider", provider.description)
        writer.name("linked")
        writer.flag(account != nil)
        writer.member(account == nil ? "last_account" : "account", lastAccount.description)
        if matchedBy.contains(where: \.isByEmail) {
            writer.name("email_verified")
            writer.flag(isEmailVerified)
        }
        writer.matches(matchedBy)
    }
}

extension FoundEvent {
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.member("event_id", recorded.id.description)
        writer.member("position", recorded.position.description)
        writer.member("type", recorded.event.name.rawValue)
        writer.member("outcome", recorded.event.fact.outcome.rawValue)
        writer.member("recorded_at", recorded.recordedAt.description)
        writer.name("accounts")
        writer.texts(recorded.accounts.map(\.id.description))
        writer.member("request", recorded.request?.description)
        writer.matches(matchedBy)
    }
}

extension JSONWriter {
    fileprivate mutating func matches(_ matches: [SearchMatch]) {
        name("matched_by")
        texts(matches.map(\.rawValue))
    }
}
