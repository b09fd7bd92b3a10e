import LedgerTestSupport
import Synchronization
import Testing

/// Shards that Citus moves while their tenant is written; on the nodes that `tools/test --citus` starts.
@Suite(.serialized, .enabled(if: !TestCluster.workers.isEmpty)) struct ShardMoveTests {
    @Test(arguments: ["block_writes", "force_logical"])
    func `a tenant moves to the other worker while it is written`(mode: String) async throws {
        try await whileWritten { deployment in
            let before = try await deployment.asSuperuser(Self.place)
            try await deployment.asSuperuser(
                """
                SELECT citus_move_shard_placement(s.shardid, s.nodename, s.nodeport, w.node_name,
                    w.node_port::int, shard_transfer_mode := '\(mode)')::text
                FROM (SELECT * FROM pg_dist_shard_placement WHERE shardid
                    = get_shard_id_for_distribution_column('ledger_head', 'default')) s,
                    citus_get_active_worker_nodes() w
                WHERE w.node_port <> s.nodeport
                """)
            #expect(try await deployment.asSuperuser(Self.place) != before)
        }
    }

    @Test func `a tenant gets shards of its own while it is written`() async throws {
        try await whileWritten { deployment in
            let isolated = try await deployment.asSuperuser(
                """
                SELECT isolate_tenant_to_new_shard('ledger_head', 'default', 'CASCADE',
                    shard_transfer_mode := 'block_writes')::text
                """)
            let width = try await deployment.asSuperuser(
                """
                SELECT (shardmaxvalue::bigint - shardminvalue::bigint)::text FROM pg_dist_shard
                WHERE shardid = \(isolated[0])
                """)
            #expect(width == ["0"])
        }
    }

    private static let place = """
        SELECT nodeport::text FROM pg_dist_shard_placement
        WHERE shardid = get_shard_id_for_distribution_column('ledger_head', 'default')
        """

    /// Runs the body while accounts are opened and linked, and checks that nothing acknowledged is lost or doubled,
    /// that the guards are on every shard, and that everything holds.
    private func whileWritten(
        _ body: (Deployment) async throws -> Void
    ) async throws {
        try await Deployment.with { deployment in
            let servers = [try await deployment.serve(), try await deployment.serve()]
            let end = EndOfTraffic()
            let lanes = (0..<3).map { lane in
                Task { try await live(deployment, servers[lane % 2], lane, until: end) }
            }
            let size = "SELECT next_position::text FROM ledger_head"
            try await eventually("traffic") {
                Int(try await deployment.asSuperuser(size)[0]) ?? 0 > 20 ? true : nil
            }
            try await body(deployment)
            let moved = Int(try await deployment.asSuperuser(size)[0]) ?? 0
            try await eventually("traffic afterwards") {
                Int(try await deployment.asSuperuser(size)[0]) ?? 0 > moved + 10 ? true : nil
            }
            end.tell()
            var opened: [(subject: String, user: String)] = []
            for lane in lanes { opened += try await lane.value }
            #expect(Set(opened.map(\.user)).count == opened.count)
            for (subject, user) in opened {
                var device = Device(servers[0].client)
                #expect(try await device.signIn(deployment.apple, as: subject).status == 200)
                #expect(device.userID == user)
            }
            try await expectVerified(deployment)
            let guarded = try await deployment.tool.run(["migrate"])
            #expect(
                guarded.status == 0 && !guarded.output.contains("repaired"), "\(guarded.output)")
            #expect(guarded.output.contains("level 2"))
        }
    }

    /// Opens accounts until the end; those that are refused meanwhile are opened again.
    private func live(
        _ deployment: Deployment, _ server: ServerProcess, _ lane: Int, until end: EndOfTraffic
    ) async throws -> [(subject: String, user: String)] {
        var opened: [(subject: String, user: String)] = []
        while !end.isHere {
            let subject = "lane\(lane)-\(opened.count)"
            var device = Device(server.client)
            let signedIn = try await device.signIn(deployment.apple, as: subject)
            guard signedIn.status == 200 else {
                // A batch that was planned before locks a row that is no longer in use: the keys of the log refuse it.
                #expect([500, 503].contains(signedIn.status), "\(server.log.suffix(1_500))")
                continue
            }
            opened.append((subject: subject, user: device.userID))
        }
        return opened
    }
}
