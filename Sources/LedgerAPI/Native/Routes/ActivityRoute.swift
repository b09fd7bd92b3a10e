internal import HTTP
import JSON
internal import Ledger

/// `GET /v1/account/activity`: the recent activity of the caller's account, newest first.
struct ActivityRoute: Route {
    /// The maximum number of rows of a page.
    private static let limitMax: Int64 = 100
    private static let limitDefault = 20

    static let method = "GET"
    static let path = "/v1/account/activity"
    static let operation = Operation(
        id: "list_activity", tag: .account,
        summary: "The recent activity of the caller's account, newest first",
        about: "Sign-ins, links, unlinks, refusals, changes of factors, addresses and passwords,"
            + " also of accounts that were merged into it. Bounded: the last"
            + " 500 events of each account.",
        access: .accountHolder,
        parameters: [
            Parameter(
                name: "before", schema: .event,
                about: "The `next` value of the previous page"),
            Parameter(
                name: "limit", schema: .integer(10, 1...limitMax),
                about: "The maximum number of rows; \(limitDefault) by default",
                isInExample: true),
        ],
        answers: .json(ActivityPage.schema))

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let (caller, before, limit) = try await call.byAccountHolder { caller throws(APIError) in
            let query = try QueryParameters(call)
            let limit = try query.value("limit", "a number from 1 to \(Self.limitMax)") { text in
                LogPosition(digits: text).flatMap { number in
                    (1...Self.limitMax).contains(number.value) ? Int(number.value) : nil
                }
            }
            let before = try query.value("before", "the next value of the previous page") {
                EventID($0)
            }
            return (caller, before, limit ?? Self.limitDefault)
        }
        _ = try await call.identities(of: caller)
        let page: ActivityPage?
        do {
            page = try await call.services.activities.activity(
                of: caller.account, before: before, limit: limit, in: call.tenant)
        } catch {
            throw .faulted(error)
        }
        guard let page else {
            throw QueryParameters.flaw("before", "must be an event of the recent activity")
        }
        return .json(bytes: page.json(in: caller.session))
    }
}

extension ActivityPage {
    static let schema: Schema = {
        let row = Schema.object(
            "Activity",
            [
                .required("event_id", .event), .required("at", .time),
                .required("kind", .choice(AccountActivity.Kind.allCases.map(\.rawValue))),
                .required("by", .choice(AccountActivity.Initiator.allCases.map(\.rawValue))),
                .optional("provider", .provider), .optional("identity_id", .identity),
                .optional("factor", .choice(FactorKind.allCases.map(\.rawValue))),
                .optional(
                    "new_device", .flag(true),
                    "Of a sign-in: whether the device was not known, where that is checked"),
                .optional(
                    "current_session", .flag(true),
                    "Whether the event is about the session of the request"),
                .optional("reason", .text("only_provider"), "Of a refusal"),
                .optional(
                    "client_ip", .text("203.0.113.7"), "Of an action by the account holder"),
            ])
        return .object(
            "AccountActivity",
            [
                .required("activity", .list(row)),
                .optional("next", .event, "For `before` of the next page"),
                .required("more", .flag(false)),
            ])
    }()

    /// The answer of `GET /v1/account/activity` to a session.
    func json(in session: SessionID) -> [UInt8] {
        var writer = JSONWriter(reserving: 256 * (rows.count + 1))
        writer.object { writer in
            writer.name("activity")
            writer.array { writer in
                for row in rows { row.write(to: &writer, in: session) }
            }
            if hasMore { writer.member("next", rows.last?.event.description) }
            writer.name("more")
            writer.flag(hasMore)
        }
        return writer.bytes
    }
}

extension AccountActivity {
    fileprivate func write(to writer: inout JSONWriter, in session: SessionID) {
        writer.object { writer in
            writer.member("event_id", event.description)
            writer.member("at", at.description)
            writer.member("kind", kind.rawValue)
            writer.member("by", initiator.rawValue)
            writer.member("provider", provider?.description)
            writer.member("identity_id", identity?.description)
            writer.member("factor", factor?.rawValue)
            if let isNewDevice {
                writer.name("new_device")
                writer.flag(isNewDevice)
            }
            if let own = self.session {
                writer.name("current_session")
                writer.flag(own == session)
            }
            writer.member("reason", reason)
            writer.member("client_ip", clientIP)
        }
    }
}
