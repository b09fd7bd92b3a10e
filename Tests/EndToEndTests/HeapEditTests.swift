import Foundation
import Ledger
import LedgerAudit
import LedgerTestSupport
import Postgres
import Testing

/// Changes of the database's files while it is down, which no level can refuse.
@Suite struct HeapEditTests {
    @Test func `a change of the database's files is found by its position`() async throws {
        try await PrivateCluster.with { cluster in
            let settings = ["LEDGER_ORIGIN": "ledger.example.com/accounts"]
            try await Deployment.with(on: cluster, settings: settings) { deployment in
                let server = try await deployment.serve(
                    settings: ["LEDGER_SEALER_STATE": deployment.path("sealer")])
                var phone = Device(server.client)
                try await phone.signIn(deployment.apple, as: "ada")
                _ = try await phone.link(deployment.google, as: "ada")
                let reads = ProofReads(url: deployment.superuserURL) { _ in }
                try await eventually("everything to be signed") {
                    try await reads.latestCheckpoint(of: .default)?.size == 6 ? true : nil
                }
                await reads.close()
                try await server.stop()
                let path = try await heapFile(deployment)
                let before = try await deployment.tool.run(["verify"])
                #expect(before.status == 0, "\(before.output)\(before.errors)")
                #expect(before.output.contains("a server that uses the login ledger_app, but not"))

                try await cluster.stop(mode: "fast")
                let edits = try cluster.replace(
                    "\"provider\":\"google\"", with: "\"provider\":\"goagle\"", in: path)
                #expect(edits == 1, "the entry lies there as it is")
                try await cluster.start()

                let served = try await deployment.tool.run(
                    ["replay", "--from", "5", "--format", "json"])
                #expect(served.status == 1 && !served.output.contains("goagle"))
                #expect((served.output + served.errors).contains("its MAC is wrong"), "\(served)")
                let verify = try await deployment.tool.run(["verify"])
                #expect(verify.status == 1)
                #expect(verify.output.contains("append-only level 3"), "\(verify.output)")
                #expect(verify.output.contains("position 5, checkpoints: "), "\(verify.output)")
                #expect(verify.output.contains("the entry is not the one"), "\(verify.output)")
            }
        }
    }

    @Test func `events on a page that Postgres can't read are named by their first position`()
        async throws
    {
        try await PrivateCluster.with { cluster in
            let settings = ["LEDGER_ORIGIN": "ledger.example.com/accounts"]
            try await Deployment.with(on: cluster, settings: settings) { deployment in
                let server = try await deployment.serve()
                for number in 0..<10 {
                    var phone = Device(server.client)
                    try await phone.signIn(deployment.apple, as: "person-\(number)")
                }
                try await server.stop()
                let path = try await heapFile(deployment)
                let session = Session(url: deployment.superuserURL, applicationName: "heap edit")
                // Neither the page of the first event nor that of the last one.
                let (first, page) = try await session.run { connection in
                    let row = try connection.query(
                        Statement(
                            "inner_page",
                            """
                            SELECT min(position), (ctid::text::point)[0]::bigint FROM events GROUP BY 2
                            HAVING min(position) > 0
                                AND max(position) < (SELECT max(position) FROM events)
                            ORDER BY 1 LIMIT 1
                            """))
                    return (try row.int8(0, 0), try row.int8(0, 1))
                }
                await session.close()
                try await cluster.stop(mode: "fast")
                // The page's header.
                try cluster.overwrite(
                    path, at: 8_192 * UInt64(page), with: Array(repeating: 0xEE, count: 24))
                try await cluster.start()
                let verify = try await deployment.tool.run(["verify"])
                #expect(verify.status == 1, "\(verify.errors)")
                #expect(
                    verify.output.contains("position \(first), entries: the event can't be read"),
                    "\(verify.output)\(verify.errors)")
                #expect(verify.output.contains("DOES NOT HOLD: 1 findings"), "\(verify.output)")
            }
        }
    }

    @Test func `rows of a table that Postgres can't read are named by the table`() async throws {
        try await PrivateCluster.with { cluster in
            try await Deployment.with(on: cluster) { deployment in
                let server = try await deployment.serve()
                _ = try await deployment.apiKey("auditor")
                try await server.stop()
                let path = try await heapFile(deployment, of: "api_keys")
                try await cluster.stop(mode: "fast")
                try cluster.overwrite(path, at: 0, with: Array(repeating: 0xEE, count: 24))
                try await cluster.start()
                let verify = try await deployment.tool.run(["verify"])
                #expect(verify.status == 1, "\(verify.errors)")
                #expect(
                    verify.output.contains("api_keys: a row of api_keys can't be read"),
                    "\(verify.output)\(verify.errors)")
                #expect(verify.output.contains("DOES NOT HOLD: 1 findings"), "\(verify.output)")
            }
        }
    }

    /// Returns the file with a table's rows, once everything is written to it.
    private func heapFile(
        _ deployment: Deployment, of table: String = "events"
    ) async throws -> String {
        let session = Session(url: deployment.superuserURL, applicationName: "heap edit")
        let path = try await session.run { connection in
            try connection.execute("CHECKPOINT")
            return try connection.query(
                Statement("heap_file", "SELECT pg_relation_filepath('\(table)')")
            ).text(0, 0)
        }
        await session.close()
        return path
    }
}
