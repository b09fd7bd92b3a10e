internal import Encodings
package import Ledger
package import LedgerEngine
package import Postgres

/// Stores challenges in one tenant's rows, each step in its own transaction.
package final class PostgresChallengeStore: ChallengeStore {
    private static let insert = Statement(
        "insert_challenge",
        """
        INSERT INTO challenges (tenant_id, challenge_id, provider, session_id, plan, digest,
            code_digest, key_id, sealed, wrapping_key, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        """)

    private static let list: SelectList = [
        "provider", "session_id", "plan", "digest", "code_digest", "key_id", "sealed",
        "wrapping_key", "expires_at",
    ]

    private static let countTry = Statement(
        "count_try",
        """
        UPDATE challenges SET tries = tries + 1
        WHERE tenant_id = $1 AND challenge_id = $2 AND tries < \(StoredChallenge.triesMax)
            AND expires_at > $3
        RETURNING \(list.sql)
        """)

    /// Counts in the order of the scopes, so that two transactions never wait for each other.
    private static let count = Statement(
        "count_codes",
        """
        INSERT INTO code_counts AS c (tenant_id, scope, count, ends_at)
        SELECT $1::text, k.scope, 1, $4::timestamptz
        FROM (SELECT scope FROM unnest($2::bytea[]) AS s (scope) ORDER BY scope) k
        ON CONFLICT (tenant_id, scope) DO UPDATE
        SET count = CASE WHEN c.ends_at > $3::timestamptz THEN c.count + 1 ELSE 1 END,
            ends_at = CASE WHEN c.ends_at > $3::timestamptz THEN c.ends_at
                ELSE excluded.ends_at END
        RETURNING c.scope, c.count, c.ends_at
        """)

    private static let uncount = Statement(
        "uncount_codes",
        """
        UPDATE code_counts SET count = count - 1
        WHERE tenant_id = $1 AND scope = ANY ($2::bytea[]) AND count > 0
        """)

    private let session: Postgres.Session
    private let keyring: WrappingKeyring
    private let outbox: any CodeOutbox
    private let onFault: @Sendable (String) -> Void

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - url: The runtime role's URL.
    ///   - keyring: Encrypts addresses.
    ///   - outbox: Writes the messages with the codes.
    ///   - onFault: Called with one line, free of personal data, for each failure.
    package init(
        url: String, keyring: WrappingKeyring, outbox: any CodeOutbox,
        onFault: @escaping @Sendable (String) -> Void
    ) {
        session = Postgres.Session(
            url: url, applicationName: "account-ledger challenges", connectTimeout: .seconds(2),
            runDeadline: AnswerTime.transactionMax
        ) { try $0.execute(PostgresBatchStore.settings) }
        self.keyring = keyring
        self.outbox = outbox
        self.onFault = onFault
    }

    /// Stores a challenge and the message with its code, in one transaction.
    package func open(
        _ challenge: StoredChallenge, _ message: CodeMessage, counting counts: [CodeCount],
        at now: Timestamp
    ) async throws(LedgerFault) -> Int64? {
        let sealed = keyring.seal(
            Array("\(challenge.address)\0\(challenge.secret ?? "")".utf8),
            additional: Self.additional(challenge.id, challenge.tenant))
        guard let sealed else { throw .internalFailure }
        let wait = try await transact { [outbox] connection in
            if let wait = try Self.count(
                counts, in: challenge.tenant, at: now, on: connection)
            {
                return wait
            }
            _ = try connection.query(
                Self.insert,
                [
                    .text(challenge.tenant.description), .uuid(challenge.id.bits),
                    .text(challenge.provider.description),
                    challenge.session.map { .uuid($0.bits) } ?? .null,
                    challenge.plan.map { .bytes($0.bytes) } ?? .null,
                    .bytes(challenge.name.digest.bytes), .bytes(challenge.codeDigest.bytes),
                    .text(challenge.name.key), .bytes(sealed.wrapped), .text(sealed.wrappingKey),
                    .timestamp(challenge.expiresAt.microseconds),
                ])
            try outbox.write(message, for: challenge, on: connection)
            return nil
        }
        if wait == nil { outbox.committed() }
        return wait
    }

    /// Counts one more try of a challenge and returns the challenge.
    package func countTry(
        of id: ChallengeID, in tenant: TenantID, at now: Timestamp
    ) async throws(LedgerFault) -> StoredChallenge? {
        try await run { [keyring] connection in
            let result = try connection.query(
                Self.countTry,
                [.text(tenant.description), .uuid(id.bits), .timestamp(now.microseconds)])
            guard result.rowCount == 1 else { return nil }
            return try Self.read(result, id, tenant, keyring)
        }
    }

    /// Adds one to counts, unless one of them has reached its limit.
    package func count(
        _ counts: [CodeCount], in tenant: TenantID, at now: Timestamp
    ) async throws(LedgerFault) -> Int64? {
        try await transact { try Self.count(counts, in: tenant, at: now, on: $0) }
    }

    /// Subtracts one from counts.
    package func uncount(
        _ counts: [CodeCount], in tenant: TenantID
    ) async throws(LedgerFault) {
        try await run { connection in
            _ = try connection.query(
                Self.uncount,
                [.text(tenant.description), .byteArrays(counts.map(\.scope.bytes))])
        }
    }

    /// Closes the connection.
    package func close() async {
        await session.close()
    }

    /// Counts, and returns the seconds to wait when a limit was exceeded.
    private static func count(
        _ counts: [CodeCount], in tenant: TenantID, at now: Timestamp, on connection: Connection
    ) throws -> Int64? {
        let limits = Dictionary(counts.map { ($0.scope, $0.limit) }, uniquingKeysWith: min)
        let result = try connection.query(
            count,
            [
                .text(tenant.description), .byteArrays(limits.keys.map(\.bytes)),
                .timestamp(now.microseconds),
                .timestamp(now.adding(seconds: CodeCount.windowSeconds).microseconds),
            ])
        var wait: Int64?
        for row in 0..<result.rowCount {
            let scope = try result.digest(row, result.column("scope"))
            let counted = try result.int4(row, result.column("count"))
            guard let limit = limits[scope], counted > limit else { continue }
            let ends = Timestamp(microseconds: try result.timestamp(row, result.column("ends_at")))
            wait = max(wait ?? 1, ends.seconds - now.seconds)
        }
        return wait
    }

    private static func read(
        _ result: QueryResult, _ id: ChallengeID, _ tenant: TenantID, _ keyring: WrappingKeyring
    ) throws -> StoredChallenge? {
        let sealed = try result.bytes(0, list["sealed"])
        let address = keyring.open(
            sealed, wrappingKey: try result.text(0, list["wrapping_key"]),
            additional: additional(id, tenant))
        // A row that no server has written proves nothing.
        let parts = address.flatMap { String(validating: $0, as: UTF8.self) }?
            .split(separator: "\0", maxSplits: 1, omittingEmptySubsequences: false)
        guard let parts, parts.count == 2, let text = parts.first.map(String.init),
            let provider = ProviderName(try result.text(0, list["provider"]))
        else { return nil }
        return StoredChallenge(
            id: id, tenant: tenant, provider: provider,
            session: try result.optionalUUID(0, list["session_id"]).map { SessionID(bits: $0) },
            plan: try result.optionalBytes(0, list["plan"]).flatMap { Digest($0) },
            name: AddressName(
                kind: text.contains("@") ? .email : .phone,
                digest: try result.digest(0, list["digest"]),
                key: try result.text(0, list["key_id"])),
            address: text, secret: parts[1].isEmpty ? nil : String(parts[1]),
            codeDigest: try result.digest(0, list["code_digest"]),
            expiresAt: Timestamp(microseconds: try result.timestamp(0, list["expires_at"])))
    }

    private static func additional(_ id: ChallengeID, _ tenant: TenantID) -> [UInt8] {
        Array("challenge:\(tenant)/\(id)".utf8)
    }

    /// Runs a transaction, which is rolled back when it returns a time to wait.
    private func transact(
        _ body: @escaping @Sendable (Connection) throws -> Int64?
    ) async throws(LedgerFault) -> Int64? {
        try await run { connection in
            try connection.execute("BEGIN")
            do {
                let wait = try body(connection)
                try connection.execute(wait == nil ? "COMMIT" : "ROLLBACK")
                return wait
            } catch {
                try? connection.execute("ROLLBACK")
                throw error
            }
        }
    }

    private func run<Value: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Value
    ) async throws(LedgerFault) -> Value {
        do {
            return try await session.run { try body($0) }
        } catch {
            onFault("a challenge could not be stored or read: \(error)")
            throw .unavailable
        }
    }
}

/// Writes the messages that carry codes, in the transaction of their challenges.
package protocol CodeOutbox: Sendable {
    /// Writes the message of a challenge.
    func write(
        _ message: CodeMessage, for challenge: StoredChallenge, on connection: Connection
    ) throws

    /// Is called after the commit of a message.
    func committed()
}
