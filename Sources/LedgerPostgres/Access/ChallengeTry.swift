import Ledger
import LedgerEngine
import Postgres

/// One try of a challenge.
struct ChallengeTry {
    let challenge: ChallengeID
    let tenant: TenantID
    let now: Timestamp

    private static let list: SelectList = [
        "l.tries AS before", "c.challenge_id", "c.provider", "c.session_id", "c.plan", "c.digest",
        "c.code_digest", "c.key_id", "c.sealed", "c.wrapping_key", "c.expires_at",
    ]

    /// Skips locked rows: the transaction that locks them may lock several, in another order.
    private static let count = Statement(
        "count_tries",
        """
        WITH l AS MATERIALIZED (
            SELECT challenge_id, tries FROM challenges
            WHERE tenant_id = $1 AND challenge_id = ANY ($2::uuid[])
                AND tries < \(StoredChallenge.triesMax) AND expires_at > $4
            FOR UPDATE SKIP LOCKED)
        UPDATE challenges c SET tries = least(l.tries + k.count, \(StoredChallenge.triesMax))
        FROM l JOIN unnest($2::uuid[], $3::int4[]) AS k (challenge_id, count)
            ON k.challenge_id = l.challenge_id
        WHERE c.tenant_id = $1 AND c.challenge_id = l.challenge_id
        RETURNING \(list.sql)
        """)

    private static let openChallenges = Statement(
        "open_challenges",
        """
        SELECT challenge_id FROM challenges
        WHERE tenant_id = $1 AND challenge_id = ANY ($2::uuid[])
            AND tries < \(StoredChallenge.triesMax) AND expires_at > $3
        """)

    /// The outcome of a counted try: nil for an unknown, expired or exhausted challenge.
    struct Outcome {
        let challenge: StoredChallenge?
    }

    /// Counts tries and returns the outcome of each; nil for a locked challenge.
    static func count(
        _ tries: [ChallengeTry], keyring: WrappingKeyring, on connection: Connection
    ) throws -> [Outcome?] {
        var outcomes: [Outcome?] = Array(repeating: Outcome(challenge: nil), count: tries.count)
        for (tenant, indices) in Dictionary(grouping: tries.indices, by: { tries[$0].tenant }) {
            let all = Dictionary(grouping: indices) { tries[$0].challenge }
            let ids = all.keys.map(\.bits)
            let now = indices.map { tries[$0].now }.max() ?? Timestamp(microseconds: 0)
            let counted = try connection.query(
                count,
                [
                    .text(tenant.description), .uuids(ids),
                    .int4s(all.values.map { Int32(clamping: $0.count) }),
                    .timestamp(now.microseconds),
                ])
            var missing = Set(all.keys)
            for row in 0..<counted.rowCount {
                let id = ChallengeID(bits: try counted.uuid(row, list["c.challenge_id"]))
                let left = StoredChallenge.triesMax - Int(try counted.int4(row, list["before"]))
                let challenge = try read(counted, row, id, tenant, keyring)
                missing.remove(id)
                for index in all[id, default: []].prefix(left) {
                    outcomes[index] = Outcome(challenge: challenge)
                }
            }
            guard !missing.isEmpty else { continue }
            let open = try connection.query(
                openChallenges,
                [
                    .text(tenant.description), .uuids(missing.map(\.bits)),
                    .timestamp(now.microseconds),
                ])
            for row in 0..<open.rowCount {
                let id = ChallengeID(bits: try open.uuid(row, 0))
                for index in all[id, default: []] { outcomes[index] = nil }
            }
        }
        return outcomes
    }

    private static func read(
        _ result: QueryResult, _ row: Int, _ id: ChallengeID, _ tenant: TenantID,
        _ keyring: WrappingKeyring
    ) throws -> StoredChallenge? {
        let address = keyring.open(
            try result.bytes(row, list["c.sealed"]),
            wrappingKey: try result.text(row, list["c.wrapping_key"]),
            additional: id.additional(in: tenant))
        // A row that no server has written proves nothing.
        let parts = address.flatMap { String(validating: $0, as: UTF8.self) }?
            .split(separator: "\0", maxSplits: 1, omittingEmptySubsequences: false)
        guard let parts, parts.count == 2, let text = parts.first.map(String.init),
            let provider = ProviderName(try result.text(row, list["c.provider"]))
        else { return nil }
        return StoredChallenge(
            id: id, tenant: tenant, provider: provider,
            session: try result.optionalUUID(row, list["c.session_id"]).map { SessionID(bits: $0) },
            plan: try result.optionalBytes(row, list["c.plan"]).flatMap { Digest($0) },
            name: AddressName(
                kind: text.contains("@") ? .email : .phone,
                digest: try result.digest(row, list["c.digest"]),
                key: try result.text(row, list["c.key_id"])),
            address: text, secret: parts[1].isEmpty ? nil : String(parts[1]),
            codeDigest: try result.digest(row, list["c.code_digest"]),
            expiresAt: Timestamp(microseconds: try result.timestamp(row, list["c.expires_at"])))
    }
}

extension ChallengeID {
    /// The additional data of a challenge's encrypted column.
    func additional(in tenant: TenantID) -> [UInt8] {
        Array("challenge:\(tenant)/\(self)".utf8)
    }
}
