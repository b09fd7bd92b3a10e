import Ledger
import LedgerTestSupport
import Testing

@testable import LedgerPostgres

@Suite struct TenantNodesTests {
    @Test func `every command has one lane on Postgres alone`() {
        let nodes = TenantNodes()
        #expect(nodes.commandLane(of: .default) == 0)
        #expect(nodes.commandLane(of: tenant("acme")) == 0)
    }

    @Test func `the tenants of a node share its lanes, and no lane is of two nodes`() {
        let nodes = TenantNodes()
        let tenants = (0..<200).map { tenant("tenant-\($0)") }
        for (number, tenant) in tenants.enumerated() { nodes.note(tenant, lane: 1 + number % 2) }
        let lanes = [0, 1].map { parity in
            Set(
                tenants.enumerated().filter { $0.offset % 2 == parity }
                    .map { nodes.commandLane(of: $0.element) })
        }
        #expect(lanes.map(\.count) == [4, 4])
        #expect(lanes[0].isDisjoint(with: lanes[1]))
        #expect(!lanes[0].contains(0))
    }
}
