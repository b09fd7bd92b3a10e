import Cryptography
import Ledger
import LedgerEngine
import LedgerMessages
import Postgres

/// The notices of a batch's events, one for each address of an account and of those that were merged into it.
///
/// The addresses are those from before the batch: an address that was just proved gets no notice, and one that is
/// replaced gets those of the time before. Nor does one to which the code of a sign-in was sent.
enum NoticeWrites {
    /// The addresses that are told of one event, one of each account before the second of any.
    private static let addressesMax = 20
    /// The notices about an account to one of its addresses within an hour; links and unlinks in turns send no
    /// more.
    private static let mailsPerHour = 20
    private static let textsPerHour = 5
    /// Those about new devices, which count by themselves: sign-ins must not use up the others.
    private static let devicesPerHour = 3
    /// Those that no limit holds back: such a change is possible once in seven days.
    private static let unlimited = [MessageTemplate.addressChanged, .addressReturned]
        .map { "'\($0.rawValue)'" }.joined(separator: ", ")
    private static let newDevice = "'\(MessageTemplate.newDevice.rawValue)'"

    // One recursion for the batch: one for each event takes a quarter of a link's processor time.
    static let insert = Statement("insert_notices", "\(family)\n\(insertion)\n\(messages)")

    /// As ``insert``, where Citus reads the rows of a node before it writes them.
    static let insertOnCitus = Statement(
        "insert_notices", "\(insertion)\n\(family)\n\(messages)")

    private static let family = """
        WITH RECURSIVE told AS (
            SELECT account_id, template, event, message_id, proved, number
            FROM unnest($2::uuid[], $3::text[], $4::bigint[], $6::uuid[], $7::uuid[])
                WITH ORDINALITY AS k (account_id, template, event, message_id, proved, number)
        ), family AS (
            SELECT number, account_id AS holder FROM told
            UNION
            SELECT f.number, a.account_id
            FROM family f
            CROSS JOIN LATERAL (
                SELECT account_id FROM accounts
                WHERE tenant_id = $1 AND merged_into = f.holder
                OFFSET 0) a
        ), held AS (
            SELECT f.number, h.address_id, h.kind, h.position, row_number() OVER (
                PARTITION BY f.number ORDER BY h.turn, h.position) AS place
            FROM family f
            CROSS JOIN LATERAL (
                SELECT address_id, kind, position,
                    row_number() OVER (ORDER BY kind, position) AS turn
                FROM addresses WHERE tenant_id = $1 AND account_id = f.holder
                    AND NOT claimed AND (former_of IS NULL OR kept_until > statement_timestamp())
                OFFSET 0) h
        )
        """

    private static let insertion = """
        INSERT INTO messages (tenant_id, message_id, account_id, channel, template, language,
            address_id, address_position, position, created_at, expires_at, next_attempt_at)
        """

    // The statement sees no message of its own, so those of the batch are counted by their turns. The tenant's SMS of the
    // last hour are a range of its ids, which begin with their times, and counted only where an SMS needs it. `OFFSET 0`
    // keeps the look-up of a number from becoming a scan of all messages.
    private static let messages = """
        SELECT $1::text, encode(set_byte(uuid_send(n.message_id), 15, n.place::int), 'hex')::uuid,
            n.account_id, CASE n.kind WHEN 'email' THEN 'email' ELSE 'sms' END, n.template, $5::text,
            n.address_id, n.position, n.event, statement_timestamp(),
            statement_timestamp() + make_interval(secs => \(OutgoingMessage.lifetimeMax)),
            statement_timestamp()
        FROM (
            SELECT t.*, row_number() OVER (PARTITION BY t.kind ORDER BY t.number, t.place) AS texts
            FROM (
                SELECT d.place, d.kind, d.address_id, d.position, k.message_id, k.account_id,
                    k.template, k.event, k.number, row_number() OVER (
                        PARTITION BY k.account_id, d.address_id, k.template = \(newDevice)
                        ORDER BY k.number) AS turn
                FROM held d JOIN told k ON k.number = d.number
                WHERE d.place <= \(addressesMax) AND d.address_id <> k.proved) t
            WHERE t.template IN (\(unlimited)) OR CASE WHEN t.template = \(newDevice)
                    THEN \(devicesPerHour)
                    ELSE CASE t.kind WHEN 'email' THEN \(mailsPerHour) ELSE \(textsPerHour) END
                    END >= t.turn + (
                    SELECT count(*) FROM messages
                    WHERE tenant_id = $1 AND account_id = t.account_id
                        AND address_id = t.address_id
                        AND (template = \(newDevice)) = (t.template = \(newDevice))
                        AND created_at > statement_timestamp() - interval '1 hour')) n
        WHERE n.kind = 'email' OR n.template IN (\(unlimited))
            OR n.turn = 1 AND NOT EXISTS (
                SELECT FROM messages
                WHERE tenant_id = $1 AND account_id = n.account_id AND address_id = n.address_id
                    AND (template = \(newDevice)) = (n.template = \(newDevice))
                    AND created_at > statement_timestamp() - interval '24 hours'
                OFFSET 0)
            OR n.texts + (
                SELECT count(*) FROM messages
                WHERE tenant_id = $1 AND message_id > $9::uuid AND channel = 'sms'
                    AND address_id IS NOT NULL) <= $8::bigint
        """

    /// Returns the calls for the tenants with a language; another one has no addresses.
    ///
    /// SMS beyond `textsMax` of the tenant within an hour are written only for the first notice to a number within a day,
    /// of new devices and of all else: a person who uses up the tenant's number suppresses no first notice of another one.
    static func calls(
        in batches: [TenantBatch], at now: Timestamp,
        language: (TenantID) -> MessageLanguage?, textsMax: (TenantID) -> Int
    ) -> [Call] {
        batches.compactMap { batch in
            guard let language = language(batch.tenant) else { return nil }
            let notices = batch.notices
            guard !notices.isEmpty else { return nil }
            // The last byte is the place of the address.
            let ids = notices.map { _ in MessageID(at: now, random: SecureRandom.uint128()).bits }
            return Call(
                insert,
                [
                    .text(batch.tenant.description), .uuids(notices.map(\.account.bits)),
                    .texts(notices.map(\.template.rawValue)),
                    .int8s(notices.map(\.position.value)), .text(language.rawValue), .uuids(ids),
                    .uuids(notices.map { $0.proved?.bits ?? 0 }),
                    .int8(Int64(textsMax(batch.tenant))),
                    .uuid(MessageID(at: now.adding(seconds: -3600), random: 0).bits),
                ])
        }
    }
}
