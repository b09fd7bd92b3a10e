import Ledger
import LedgerEngine
import LedgerMessages
import Postgres

/// The statements of a dispatcher.
enum MessageRows {
    // Row locks keep two dispatchers apart: the second one checks the new time after the first one's commit.
    private static let take = Statement(
        "take_messages",
        """
        WITH due AS (
            SELECT message_id FROM messages
            WHERE tenant_id = $1 AND state = 'pending' AND channel = $2
                AND next_attempt_at <= statement_timestamp() AND expires_at > statement_timestamp()
            ORDER BY next_attempt_at LIMIT $3 FOR UPDATE SKIP LOCKED)
        UPDATE messages m
        SET lease = $4, next_attempt_at = statement_timestamp() + make_interval(secs => $5::int)
        FROM due d WHERE m.tenant_id = $1 AND m.message_id = d.message_id
        RETURNING m.message_id
        """)

    private static let begin = Statement(
        "begin_message",
        """
        UPDATE messages
        SET attempts = attempts + 1,
            next_attempt_at = statement_timestamp() + make_interval(secs => $4::int)
        WHERE tenant_id = $1 AND message_id = $2 AND lease = $3 AND state = 'pending'
            AND expires_at > statement_timestamp()
        RETURNING channel, template, language, wrapping_key, sealed, address_id, position,
            address_position, attempts
        """)

    // Also after the lease was lost, and when it has expired meanwhile.
    private static let sent = Statement(
        "end_message_sent",
        """
        UPDATE messages
        SET state = 'sent', ended_at = statement_timestamp(), sealed = NULL, lease = NULL,
            response_code = $3, fault = NULL
        WHERE tenant_id = $1 AND message_id = $2 AND state IN ('pending', 'expired')
        """)

    private static let failed = Statement(
        "end_message_failed",
        """
        UPDATE messages
        SET state = 'failed', ended_at = statement_timestamp(), sealed = NULL, lease = NULL,
            response_code = $4, fault = $5
        WHERE tenant_id = $1 AND message_id = $2 AND lease = $3 AND state = 'pending'
        """)

    private static let again = Statement(
        "end_message_again",
        """
        UPDATE messages
        SET lease = NULL, response_code = $4, fault = $5,
            next_attempt_at = statement_timestamp() + $6::bigint * interval '1 microsecond'
        WHERE tenant_id = $1 AND message_id = $2 AND lease = $3 AND state = 'pending'
        """)

    /// Ends the expired messages of a tenant, also one that is being sent; returns their numbers.
    static let expire = Statement(
        "expire_messages",
        """
        WITH gone AS (
            UPDATE messages
            SET state = 'expired', ended_at = statement_timestamp(), sealed = NULL, lease = NULL
            WHERE tenant_id = $1 AND state = 'pending' AND expires_at <= statement_timestamp()
            RETURNING channel)
        SELECT channel, count(*) AS count FROM gone GROUP BY channel
        """)

    static func takeCall(
        _ channel: MessageChannel, of tenant: TenantID, _ lease: EntityID<MessageLease>,
        seconds: Int32, atMost limit: Int
    ) -> Call {
        Call(
            take,
            [
                .text(tenant.description), .text(channel.rawValue), .int8(Int64(limit)),
                .uuid(lease.bits), .int4(seconds),
            ])
    }

    static func beginCall(_ message: LeasedMessage, seconds: Int32) -> Call {
        Call(begin, key(message) + [.uuid(message.lease.bits), .int4(seconds)])
    }

    static func endCall(_ message: LeasedMessage, _ end: AttemptEnd) -> Call {
        let held = key(message) + [.uuid(message.lease.bits)]
        switch end {
        case .sent(let code): return Call(sent, key(message) + [parameter(code)])
        case .failed(let code, let failure):
            let fault = failure.map { Parameter.text($0.rawValue) } ?? .null
            return Call(failed, held + [parameter(code), fault])
        case .again(let pause, let code, let failure):
            return Call(again, held + [parameter(code), .text(failure.rawValue), .int8(pause)])
        }
    }

    private static func key(_ message: LeasedMessage) -> [Parameter] {
        [.text(message.tenant.description), .uuid(message.id.bits)]
    }

    private static func parameter(_ code: Int?) -> Parameter {
        code.flatMap(Int32.init(exactly:)).map { .int4($0) } ?? .null
    }
}
