internal import Encodings
package import Ledger
package import LedgerEngine
package import Postgres

/// Stores challenges and counts codes in a ledger's rows.
///
/// Tries, counts and reads of many requests share a transaction, since each is of a sign-in that waits.
package final class PostgresChallengeStore: ChallengeStore {
    private static let insert = Statement(
        "insert_challenge",
        """
        INSERT INTO challenges (tenant_id, challenge_id, provider, session_id, plan, digest,
            code_digest, key_id, sealed, wrapping_key, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        ON CONFLICT (tenant_id, challenge_id) DO UPDATE
        SET provider = excluded.provider, plan = excluded.plan, digest = excluded.digest,
            code_digest = excluded.code_digest, key_id = excluded.key_id,
            sealed = excluded.sealed, wrapping_key = excluded.wrapping_key,
            expires_at = excluded.expires_at, tries = 0
        WHERE challenges.expires_at <= $12
        RETURNING true AS is_open
        """)

    private let session: Postgres.Session
    private let keyring: WrappingKeyring
    private let outbox: any CodeOutbox
    private let onFault: @Sendable (String) -> Void
    private let tries: GroupedCalls<ChallengeTry, ChallengeTry.Outcome>
    private let additions: GroupedCalls<CodeCounting, ReachedCount?>
    private let limits: GroupedCalls<CodeCounting, ReachedCount?>
    private let subtractions: GroupedCalls<CodeCounting, Bool>
    private let deviceEnds: GroupedCalls<Call, Timestamp?>

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
        let session = Postgres.Session(
            url: url, applicationName: "account-ledger challenges", connectTimeout: .seconds(2),
            runDeadline: AnswerTime.transactionMax
        ) {
            // A group of tries holds challenges while it waits for counts, and commands that end them wait with it.
            try $0.execute(PostgresBatchStore.settings + "SET lock_timeout = '2s';\n")
        }
        self.session = session
        self.keyring = keyring
        self.outbox = outbox
        self.onFault = onFault
        tries = GroupedCalls { tries in
            try await session.run { connection in
                try connection.transaction {
                    try ChallengeTry.count(tries, keyring: keyring, on: connection)
                }
            }
        }
        additions = GroupedCalls { requests in
            let reached = try await session.run { connection in
                try connection.transaction { try CodeCounting.add(requests, on: connection) }
            }
            return reached.map { Optional.some($0) }
        }
        limits = GroupedCalls { requests in
            let reached = try await session.run { connection in
                try CodeCounting.reached(requests, on: connection)
            }
            return reached.map { Optional.some($0) }
        }
        subtractions = GroupedCalls { requests in
            try await session.run { connection in
                try connection.transaction { try CodeCounting.subtract(requests, on: connection) }
            }
            return requests.map { _ in true }
        }
        deviceEnds = GroupedCalls { calls in
            try await session.run { connection in
                try connection.pipeline(calls).map { result -> Timestamp?? in
                    try DeviceEnds.last(in: result)
                }
            }
        }
    }

    /// Stores a challenge and the message with its code, in one transaction.
    package func open(
        _ challenge: StoredChallenge, _ message: CodeMessage, counting counts: [CodeCount],
        at now: Timestamp
    ) async throws(LedgerFault) -> ReachedCount? {
        let sealed = keyring.seal(
            Array("\(challenge.address)\0\(challenge.secret ?? "")".utf8),
            additional: challenge.id.additional(in: challenge.tenant))
        guard let sealed else { throw .internalFailure }
        let counting = CodeCounting(counts: counts, tenant: challenge.tenant, now: now)
        let reached = try await stored { () async throws -> ReachedCount? in
            try await session.run { [outbox] connection in
                try connection.transaction {
                    if let reached = try CodeCounting.add([counting], on: connection)[0] {
                        return reached
                    }
                    let opened = try connection.query(
                        Self.insert,
                        [
                            .text(challenge.tenant.description), .uuid(challenge.id.bits),
                            .text(challenge.provider.description),
                            challenge.session.map { .uuid($0.bits) } ?? .null,
                            challenge.plan.map { .bytes($0.bytes) } ?? .null,
                            .bytes(challenge.name.digest.bytes),
                            .bytes(challenge.codeDigest.bytes), .text(challenge.name.key),
                            .bytes(sealed.wrapped), .text(sealed.wrappingKey),
                            .timestamp(challenge.expiresAt.microseconds),
                            .timestamp(now.microseconds),
                        ])
                    // A repeated request, whose code was sent.
                    guard opened.rowCount > 0 else {
                        try CodeCounting.subtract([counting], on: connection)
                        return nil
                    }
                    try outbox.write(message, for: challenge, on: connection)
                    return nil
                }
            }
        }
        if reached == nil { outbox.committed() }
        return reached
    }

    /// Counts one more try of a challenge, and compares its code.
    package func tryCode(
        of id: ChallengeID, in tenant: TenantID, at now: Timestamp,
        _ compare: @escaping @Sendable (StoredChallenge) -> ComparedCode
    ) async throws(LedgerFault) -> TriedCode? {
        try await stored {
            try await tries.run(
                ChallengeTry(challenge: id, tenant: tenant, now: now, compare: compare)
            ).tried
        }
    }

    /// Adds one to counts, unless one of them has reached its limit.
    package func count(
        _ counts: [CodeCount], in tenant: TenantID, at now: Timestamp
    ) async throws(LedgerFault) -> ReachedCount? {
        try await stored {
            try await additions.run(CodeCounting(counts: counts, tenant: tenant, now: now))
        }
    }

    /// Returns a count that has reached its limit.
    package func reached(
        _ counts: [CodeCount], in tenant: TenantID, at now: Timestamp
    ) async throws(LedgerFault) -> ReachedCount? {
        try await stored {
            try await limits.run(CodeCounting(counts: counts, tenant: tenant, now: now))
        }
    }

    /// Subtracts one from counts.
    package func uncount(
        _ counts: [CodeCount], in tenant: TenantID
    ) async throws(LedgerFault) {
        _ = try await stored {
            try await subtractions.run(
                CodeCounting(counts: counts, tenant: tenant, now: Timestamp(microseconds: 0)))
        }
    }

    /// Returns the last end of the device tokens of an address or an account.
    package func devicesEnded(
        of names: [AddressName], _ account: AccountID?, in tenant: TenantID
    ) async throws(LedgerFault) -> Timestamp? {
        try await stored {
            try await deviceEnds.run(DeviceEnds.last(of: names, account, in: tenant))
        }
    }

    /// Closes the connection.
    package func close() async {
        await session.close()
    }

    private func stored<Value: Sendable>(
        _ body: () async throws -> Value
    ) async throws(LedgerFault) -> Value {
        do {
            return try await body()
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
