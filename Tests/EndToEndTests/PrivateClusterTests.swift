import LedgerTestSupport
import Testing

/// Clusters of single tests, which run side by side.
@Suite struct PrivateClusterTests {
    @Test func `a port that a cluster has, running or stopped, is given to no other`() async throws
    {
        try await PrivateCluster.with { cluster in
            try await cluster.stop(mode: "fast")
            #expect(throws: TestTimeout.self) { try PrivateCluster.reserve([cluster.port]) }
            try await cluster.start()
            #expect(throws: TestTimeout.self) { try PrivateCluster.reserve([cluster.port]) }
        }
    }
}
