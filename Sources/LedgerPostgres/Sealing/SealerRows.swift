import Ledger
import LedgerEngine
import Postgres
import TransparencyLog

/// The statements of a sealer: leases, reads of the log, and writes of hashes and checkpoints.
enum SealerRows {
    // A clock that was set back must not extend a lease beyond twice its length. A lease that ends a little
    // after a new one was taken by a statement that began later. A row that conflicts is compared with the
    // new one, which says when this statement began.
    private static let takeLease = Statement(
        "sealer_take_lease",
        """
        INSERT INTO sealer_leases AS l (tenant_id, holder, expires_at)
        VALUES ($1, $2, statement_timestamp() + make_interval(secs => $3::int))
        ON CONFLICT (tenant_id) DO UPDATE
        SET holder = excluded.holder, expires_at = excluded.expires_at
        WHERE l.holder = $2
            OR l.expires_at - excluded.expires_at > make_interval(secs => $3::int)
            OR excluded.expires_at - l.expires_at > make_interval(secs => $3::int)
        """)
    private static let release = Statement(
        "sealer_release", "DELETE FROM sealer_leases WHERE tenant_id = $1 AND holder = $2")
    private static let holdLease = Statement(
        "sealer_hold_lease",
        """
        WITH held AS (
            UPDATE sealer_leases
            SET expires_at = statement_timestamp() + make_interval(secs => $3::int)
            WHERE tenant_id = $1 AND holder = $2
            RETURNING 1)
        SELECT ledger_expect(count(*), 1, 'sealer_leases') FROM held
        """)

    private static let size = Statement(
        "sealer_log_size", "SELECT next_position FROM ledger_head WHERE tenant_id = $1")
    // A forged row may have the largest index: its end, which is out of range, becomes one of no tree.
    private static let end = """
        SELECT least(first_index, 9223372036854775807 - 56) + octet_length(hashes) / 32
        FROM merkle_nodes WHERE tenant_id = $1 ORDER BY first_index DESC LIMIT 1
        """
    private static let hashCount = Statement("merkle_nodes_count", end)
    private static let overlap = Statement(
        "merkle_nodes_overlap",
        """
        SELECT EXISTS (
            SELECT FROM unnest($2::bigint[]) AS i (index)
            JOIN merkle_nodes n ON n.tenant_id = $1
                AND n.first_index > i.index - 56 AND n.first_index <= i.index
            JOIN merkle_nodes later ON later.tenant_id = $1
                AND later.first_index > n.first_index
                AND later.first_index < n.first_index + octet_length(n.hashes) / 32)
        """)
    private static let largest = Statement(
        "checkpoints_largest",
        """
        SELECT c.origin, c.size, c.root, c.note, c.signed_at
        FROM (SELECT DISTINCT split_part(vkey, '+', 1) COLLATE "C" AS origin
            FROM checkpoint_keys WHERE tenant_id = $1) k
        CROSS JOIN LATERAL (
            SELECT \(CheckpointRows.columns) FROM checkpoints
            WHERE tenant_id = $1 AND origin = k.origin
            ORDER BY size DESC LIMIT 1 OFFSET 0) c
        """)
    private static let entries = Statement(
        "sealer_entries",
        """
        SELECT position, entry, mac FROM events
        WHERE tenant_id = $1 AND position >= $2 ORDER BY position LIMIT $3
        """)
    private static let leaves = Statement(
        "sealer_leaves",
        """
        SELECT position, sha256('\\x00'::bytea || entry) AS leaf, mac FROM events
        WHERE tenant_id = $1 AND position >= $2 AND position < $3 ORDER BY position
        """)
    private static let nodes = Statement(
        "merkle_nodes_between",
        """
        SELECT first_index, hashes FROM merkle_nodes
        WHERE tenant_id = $1 AND first_index > $2 - 56 AND first_index < $3 ORDER BY first_index
        """)

    private static let expectEnd = Statement(
        "merkle_nodes_expect_end",
        "SELECT ledger_expect(coalesce((\(end)), 0), $2, 'merkle_nodes')")
    private static let insertNodes = Statement(
        "merkle_nodes_insert",
        """
        INSERT INTO merkle_nodes (tenant_id, first_index, hashes)
        SELECT $1, first_index, hashes FROM unnest($2::bigint[], $3::bytea[])
            AS n (first_index, hashes)
        """)
    private static let insertKeys = Statement(
        "checkpoint_keys_insert",
        """
        INSERT INTO checkpoint_keys (tenant_id, vkey, added_at)
        SELECT $1, vkey, clock_timestamp() FROM unnest($2::text[]) AS k (vkey)
        ON CONFLICT DO NOTHING
        """)
    private static let insertCheckpoint = Statement(
        "checkpoints_insert",
        """
        INSERT INTO checkpoints (tenant_id, origin, size, root, note, signed_at)
        VALUES ($1, $2, $3, $4, $5, clock_timestamp())
        ON CONFLICT DO NOTHING
        """)

    // Another login that may add checkpoints may have added one of this size before.
    private static let expectCheckpoint = Statement(
        "checkpoints_expect",
        """
        SELECT ledger_expect(count(*), 1, 'checkpoints') FROM checkpoints
        WHERE tenant_id = $1 AND origin = $2 AND size = $3 AND root = $4 AND note = $5
        """)

    /// Acquires the free leases and renews the held ones, but for some tenants.
    static func takeLeases(
        for holder: EntityID<SealerLease>, without left: [TenantID], on connection: Connection
    ) throws(PostgresError) {
        let found = try connection.query(
            AllTenants.freeLogs,
            [.uuid(holder.bits), .int4(SealerLease.seconds), .texts(left.map(\.description))])
        var calls: [Call] = []
        for row in 0..<found.rowCount {
            calls.append(
                Call(
                    takeLease,
                    [
                        .text(try found.text(row, 0)), .uuid(holder.bits),
                        .int4(SealerLease.seconds),
                    ]))
        }
        _ = try connection.pipeline(calls)
    }

    /// Ends every lease of a holder.
    static func releaseAll(
        by holder: EntityID<SealerLease>, on connection: Connection
    ) throws(PostgresError) {
        let found = try connection.query(AllTenants.heldLogs, [.uuid(holder.bits)])
        var calls: [Call] = []
        for row in 0..<found.rowCount {
            calls.append(Call(release, [.text(try found.text(row, 0)), .uuid(holder.bits)]))
        }
        _ = try connection.pipeline(calls)
    }

    /// Ends the leases of some tenants.
    static func releaseCalls(
        _ left: [TenantID], by holder: EntityID<SealerLease>
    ) -> [Call] {
        left.map { Call(release, [.text($0.description), .uuid(holder.bits)]) }
    }

    static func logsCall(for holder: EntityID<SealerLease>) -> Call {
        Call(AllTenants.sealerLogs, [.uuid(holder.bits)])
    }

    /// Returns the call that renews a lease in a transaction and locks its row until the end.
    static func holdCall(_ tenant: TenantID, by holder: EntityID<SealerLease>) -> Call {
        Call(
            holdLease,
            [.text(tenant.description), .uuid(holder.bits), .int4(SealerLease.seconds)])
    }

    static func sizeCall(of tenant: TenantID) -> Call {
        Call(size, [.text(tenant.description)])
    }

    static func hashCountCall(of tenant: TenantID) -> Call {
        Call(hashCount, [.text(tenant.description)])
    }

    static func overlapCall(at indexes: [Int64], of tenant: TenantID) -> Call {
        Call(overlap, [.text(tenant.description), .int8s(indexes)])
    }

    static func largestCall(of tenant: TenantID) -> Call {
        Call(largest, [.text(tenant.description)])
    }

    static func entriesCall(of tenant: TenantID, from: Int64, limit: Int) -> Call {
        Call(entries, [.text(tenant.description), .int8(from), .int8(Int64(limit))])
    }

    static func leavesCall(of tenant: TenantID, _ positions: Range<Int64>) -> Call {
        Call(
            leaves,
            [
                .text(tenant.description), .int8(positions.lowerBound),
                .int8(positions.upperBound),
            ])
    }

    static func nodesCall(of tenant: TenantID, _ indexes: Range<Int64>) -> Call {
        Call(
            nodes,
            [.text(tenant.description), .int8(indexes.lowerBound), .int8(indexes.upperBound)])
    }

    static func expectEndCall(of tenant: TenantID, at index: Int64) -> Call {
        Call(expectEnd, [.text(tenant.description), .int8(index)])
    }

    /// Returns the call that stores hashes in rows of at most `NodeRows.hashesMax`.
    static func insertCall(
        _ hashes: [TreeHash], from index: Int64, of tenant: TenantID
    ) -> Call {
        var firsts: [Int64] = []
        var rows: [[UInt8]] = []
        for start in stride(from: 0, to: hashes.count, by: NodeRows.hashesMax) {
            let end = min(start + NodeRows.hashesMax, hashes.count)
            var row: [UInt8] = []
            row.reserveCapacity((end - start) * TreeHash.byteCount)
            for hash in hashes[start..<end] { hash.append(to: &row) }
            firsts.append(index + Int64(start))
            rows.append(row)
        }
        return Call(
            insertNodes, [.text(tenant.description), .int8s(firsts), .byteArrays(rows)])
    }

    static func insertCall(keys: [String], of tenant: TenantID) -> Call {
        Call(insertKeys, [.text(tenant.description), .texts(keys)])
    }

    /// Returns the calls that add a checkpoint and raise when another one of its size exists.
    static func insertCalls(_ signed: LastSigned, of tenant: TenantID) -> [Call] {
        let checkpoint = signed.checkpoint
        let row: [Parameter] = [
            .text(tenant.description), .text(checkpoint.origin.description),
            .int8(checkpoint.size), .bytes(checkpoint.root.bytes), .text(signed.note),
        ]
        return [Call(insertCheckpoint, row), Call(expectCheckpoint, row)]
    }

    /// Reads entries without a gap from a position on, up to the first event that no server has appended.
    static func entries(
        _ result: QueryResult, from position: Int64, _ protection: LogProtection?
    ) throws(PostgresError) -> (entries: [[UInt8]], forgery: LogDamage?) {
        var entries: [[UInt8]] = []
        entries.reserveCapacity(result.rowCount)
        let columns = (position: try result.column("position"), entry: try result.column("entry"))
        let mac = try result.column("mac")
        for row in 0..<result.rowCount {
            guard try result.int8(row, columns.position) == position + Int64(row) else { break }
            let entry = try result.bytes(row, columns.entry)
            if let protection,
                let forgery = Self.forgery(
                    mac: try result.optionalBytes(row, mac), at: position + Int64(row),
                    leaf: LogDigest.leaf(entry), protection)
            {
                return (entries, forgery)
            }
            entries.append(entry)
        }
        return (entries, nil)
    }

    /// Reads leaf hashes without a gap from a position on, and the first event that no server has appended.
    static func leaves(
        _ result: QueryResult, from position: Int64, _ protection: LogProtection?
    ) throws(PostgresError) -> (leaves: [TreeHash], forgery: LogDamage?) {
        var forgery: LogDamage?
        var leaves: [TreeHash] = []
        leaves.reserveCapacity(result.rowCount)
        let columns = (position: try result.column("position"), leaf: try result.column("leaf"))
        let mac = try result.column("mac")
        for row in 0..<result.rowCount {
            let bytes = try result.bytes(row, columns.leaf)
            guard try result.int8(row, columns.position) == position + Int64(row),
                let leaf = TreeHash(bytes),
                let digest = Digest(bytes)
            else { break }
            if let protection, forgery == nil {
                forgery = Self.forgery(
                    mac: try result.optionalBytes(row, mac), at: position + Int64(row),
                    leaf: digest,
                    protection)
            }
            leaves.append(leaf)
        }
        return (leaves, forgery)
    }

    /// Checks the MAC of an event; returns the damage, if any.
    private static func forgery(
        mac: [UInt8]?, at position: Int64, leaf: Digest, _ protection: LogProtection
    ) -> LogDamage? {
        do throws(LogDamage) {
            try protection.check(mac, at: LogPosition(position), leaf: leaf)
            return nil
        } catch {
            return error
        }
    }

    /// Reads stored hashes without a gap from one index up to another; nil if rows overlap.
    static func hashes(
        _ result: QueryResult, _ indexes: Range<Int64>
    ) throws(PostgresError) -> [TreeHash]? {
        var hashes: [TreeHash] = []
        var next = indexes.lowerBound
        var last = Int64.min
        for row in 0..<result.rowCount {
            let first = try result.int8(row, result.column("first_index"))
            let bytes = try result.bytes(row, result.column("hashes"))
            guard first >= last else { return nil }
            last = first + Int64(bytes.count / TreeHash.byteCount)
            let end = min(last, indexes.upperBound)
            guard end > next else { continue }
            guard first <= next else { break }
            for index in next..<end {
                guard let hash = TreeHash(bytes, at: Int(index - first) * TreeHash.byteCount)
                else { return hashes }
                hashes.append(hash)
            }
            next = end
        }
        return hashes
    }
}
