import Ledger
import LedgerEngine
import Postgres

/// One try of a challenge.
struct ChallengeTry {
    let challenge: ChallengeID
    let tenant: TenantID
    let now: Timestamp
    let compare: @Sendable (StoredChallenge) -> ComparedCode

    private static let list: SelectList = [
        "c.tries", "c.challenge_id", "c.provider", "c.session_id", "c.plan", "c.digest",
        "c.code_digest", "c.key_id", "c.sealed", "c.wrapping_key", "c.expires_at",
    ]

    /// Skips locked rows: the transaction that locks them may lock several, in another order.
    private static let lock = Statement(
        "lock_tried",
        """
        SELECT \(list.sql)
        FROM unnest($2::uuid[]) AS k (challenge_id)
        CROSS JOIN LATERAL (
            SELECT * FROM challenges
            WHERE tenant_id = $1 AND challenge_id = k.challenge_id
                AND tries < \(StoredChallenge.triesMax) AND expires_at > $3
            OFFSET 0 FOR UPDATE SKIP LOCKED) c
        """)

    private static let count = Statement(
        "count_tries",
        "UPDATE challenges SET tries = $3 WHERE tenant_id = $1 AND challenge_id = $2")

    private static let openChallenges = Statement(
        "open_challenges",
        """
        SELECT c.challenge_id
        FROM unnest($2::uuid[]) AS k (challenge_id)
        CROSS JOIN LATERAL (
            SELECT challenge_id FROM challenges
            WHERE tenant_id = $1 AND challenge_id = k.challenge_id
                AND tries < \(StoredChallenge.triesMax) AND expires_at > $3
            OFFSET 0) c
        """)

    /// The outcome of a counted try: nil for an unknown, expired or exhausted challenge.
    struct Outcome {
        let tried: TriedCode?
    }

    private struct Compared {
        let index: Int
        let code: ComparedCode
        let challenge: StoredChallenge
        /// Whether it is the first try of the challenge.
        let isFirst: Bool
    }

    /// Counts tries in an open transaction and returns the outcome of each; nil for a locked challenge.
    static func count(
        _ tries: [ChallengeTry], keyring: WrappingKeyring, on connection: Connection
    ) throws -> [Outcome?] {
        var outcomes: [Outcome?] = Array(repeating: Outcome(tried: nil), count: tries.count)
        var compared: [Compared] = []
        for (tenant, indices) in Dictionary(grouping: tries.indices, by: { tries[$0].tenant }) {
            let all = Dictionary(grouping: indices) { tries[$0].challenge }
            let name = Parameter.text(tenant.description)
            let now = indices.map { tries[$0].now }.max() ?? Timestamp(microseconds: 0)
            let locked = try connection.query(
                lock, [name, .uuids(all.keys.map(\.bits)), .timestamp(now.microseconds)])
            var counted: Set<ChallengeID> = []
            var calls: [Call] = []
            for row in 0..<locked.rowCount {
                let id = ChallengeID(bits: try locked.uuid(row, list["c.challenge_id"]))
                let before = try locked.int4(row, list["c.tries"])
                let challenge = try read(locked, row, id, tenant, keyring)
                let left = all[id, default: []].prefix(StoredChallenge.triesMax - Int(before))
                counted.insert(id)
                calls.append(
                    Call(count, [name, .uuid(id.bits), .int4(before + Int32(left.count))]))
                guard let challenge else { continue }
                compared += left.map {
                    Compared(
                        index: $0, code: tries[$0].compare(challenge), challenge: challenge,
                        isFirst: before == 0 && $0 == left.first)
                }
            }
            if !calls.isEmpty { _ = try connection.pipeline(calls) }
            let missing = all.keys.filter { !counted.contains($0) }
            guard !missing.isEmpty else { continue }
            let open = try connection.query(
                openChallenges,
                [name, .uuids(missing.map(\.bits)), .timestamp(now.microseconds)])
            for row in 0..<open.rowCount {
                let id = ChallengeID(bits: try open.uuid(row, 0))
                for index in all[id, default: []] { outcomes[index] = nil }
            }
        }
        try count(compared, of: tries, in: &outcomes, on: connection)
        try end(compared, in: &outcomes, on: connection)
        return outcomes
    }

    /// Ends the challenges whose right codes are used up, of which each has one.
    private static func end(
        _ compared: [Compared], in outcomes: inout [Outcome?], on connection: Connection
    ) throws {
        var ended: [ChallengeID: Call] = [:]
        for one in compared where one.code.isUsedUp {
            guard case .right(let challenge)? = outcomes[one.index]?.tried else { continue }
            let call = Call(
                count,
                [
                    .text(challenge.tenant.description), .uuid(challenge.id.bits),
                    .int4(Int32(StoredChallenge.triesMax)),
                ])
            if ended.updateValue(call, forKey: challenge.id) != nil {
                outcomes[one.index] = Outcome(tried: nil)
            }
        }
        if !ended.isEmpty { _ = try connection.pipeline(Array(ended.values)) }
    }

    /// Counts the wrong codes, and accepts the right ones unless a count has reached its limit.
    ///
    /// The counts that right codes lower come last, so that all transactions lock counts in one order.
    private static func count(
        _ compared: [Compared], of tries: [ChallengeTry], in outcomes: inout [Outcome?],
        on connection: Connection
    ) throws {
        func counting(_ counts: [CodeCount], of one: Compared) -> CodeCounting {
            CodeCounting(
                counts: counts, tenant: tries[one.index].tenant, now: tries[one.index].now)
        }
        var lowered: [CodeCounting] = []
        for isRight in [false, true] {
            let part = compared.filter { $0.code.isRight == isRight }
            let countings = part.map { counting($0.code.counts, of: $0) }
            let reached =
                isRight
                ? try CodeCounting.reached(countings, on: connection)
                : try CodeCounting.add(countings, on: connection)
            for (one, limit) in zip(part, reached) {
                outcomes[one.index] = Outcome(
                    tried: TriedCode(one.code, of: one.challenge, wait: limit?.waitSeconds))
                if isRight, limit == nil, one.isFirst, !one.code.lowers.isEmpty {
                    lowered.append(counting(one.code.lowers, of: one))
                }
            }
        }
        try CodeCounting.subtract(lowered, on: connection)
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
                kind: text.utf8.contains(UInt8(ascii: "@")) ? .email : .phone,
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
