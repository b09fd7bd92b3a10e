package import Ledger
package import LedgerEngine
package import LedgerMessages
package import Postgres

/// The writes to the outbox, each in a transaction of the caller.
///
/// After its commit the caller wakes the dispatcher: ``MessageDispatcher/wake()``.
package enum MessageWrites {
    private static let insert = Statement(
        "insert_messages",
        """
        INSERT INTO messages (tenant_id, message_id, account_id, channel, template, language,
            wrapping_key, sealed, recipient_key, recipient_digest, created_at, expires_at,
            next_attempt_at)
        SELECT $1::text, k.message_id, k.account_id, k.channel, k.template, k.language,
            k.wrapping_key, k.sealed, k.recipient_key, k.recipient_digest, statement_timestamp(),
            statement_timestamp() + make_interval(secs => k.seconds), statement_timestamp()
        FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[],
            $8::bytea[], $9::text[], $10::bytea[], $11::bigint[])
            AS k (message_id, account_id, channel, template, language, wrapping_key, sealed,
                recipient_key, recipient_digest, seconds)
        """)

    /// Ends unsent messages and destroys their content.
    private static func withdraw(_ name: String, where condition: String) -> Statement {
        Statement(
            "withdraw_messages_\(name)",
            """
            UPDATE messages
            SET state = 'withdrawn', ended_at = statement_timestamp(), sealed = NULL, lease = NULL
            WHERE tenant_id = $1 AND state = 'pending'\(condition)
            """)
    }

    private static let withdrawAll = withdraw("all", where: "")
    private static let withdrawSome = withdraw("some", where: " AND message_id = ANY ($2::uuid[])")
    private static let withdrawCodes = withdraw(
        "codes", where: " AND account_id = $2 AND template = ANY ($3::text[])")

    /// Returns the calls that write messages; none for no messages.
    ///
    /// - Throws: `MessageFault.noKey` when no key encrypts them.
    package static func calls(
        inserting messages: [OutgoingMessage], keyring: WrappingKeyring
    ) throws(MessageFault) -> [Call] {
        var calls: [Call] = []
        for (tenant, messages) in Dictionary(grouping: messages, by: \.tenant).sorted(
            by: { $0.key < $1.key })
        {
            var sealed: [SealedMessage] = []
            for message in messages {
                guard let one = keyring.seal(message) else { throw .noKey }
                sealed.append(one)
            }
            calls.append(
                Call(
                    insert,
                    [
                        .text(tenant.description), .uuids(messages.map(\.id.bits)),
                        .optionalUUIDs(messages.map { $0.account?.bits }),
                        .texts(messages.map(\.channel.rawValue)),
                        .texts(messages.map(\.content.template.rawValue)),
                        .texts(messages.map(\.language.rawValue)),
                        .texts(sealed.map(\.wrappingKey)), .byteArrays(sealed.map(\.sealed)),
                        .texts(sealed.map { $0.recipient.key ?? "" }),
                        .byteArrays(sealed.map(\.recipient.digest.bytes)),
                        .int8s(messages.map(\.lifetimeSeconds)),
                    ]))
        }
        return calls
    }

    /// Writes messages.
    ///
    /// - Throws: `MessageFault.noKey` when no key encrypts them, or `PostgresError`.
    package static func insert(
        _ messages: [OutgoingMessage], keyring: WrappingKeyring, on connection: Connection
    ) throws {
        _ = try connection.pipeline(try calls(inserting: messages, keyring: keyring))
    }

    /// Returns the call that withdraws these messages if they are unsent.
    package static func withdrawing(_ ids: [MessageID], of tenant: TenantID) -> Call {
        Call(withdrawSome, [.text(tenant.description), .uuids(ids.map(\.bits))])
    }

    /// Returns the call that withdraws the unsent codes of an account, whose challenges have ended.
    package static func withdrawingCodes(of account: AccountID, in tenant: TenantID) -> Call {
        let codes = MessageTemplate.allCases.filter(\.hasCode).map(\.rawValue)
        return Call(
            withdrawCodes, [.text(tenant.description), .uuid(account.bits), .texts(codes)])
    }

    /// Returns the call that withdraws every unsent message of a tenant, as after a restore.
    package static func withdrawingAll(of tenant: TenantID) -> Call {
        Call(withdrawAll, [.text(tenant.description)])
    }
}
