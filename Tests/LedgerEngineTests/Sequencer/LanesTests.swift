import LedgerEngine
import Synchronization
import Testing

/// Queues that are served side by side.
@Suite struct LanesTests {
    private final class Lane: Sendable {
        let (orders, ordering) = AsyncStream.makeStream(of: Int.self)
    }

    @Test func `a lane that waits delays no other, and all end once they are closed`() async {
        let lanes = Lanes {
            Lane()
        } close: {
            $0.ordering.finish()
        }
        let (done, finish) = AsyncStream.makeStream(of: Int.self)
        async let served: Void = lanes.run { lane in
            for await order in lane.orders { finish.yield(order) }
        }
        // The first lane has nothing to do.
        lanes.lane(3).ordering.yield(1)
        var results = done.makeAsyncIterator()
        #expect(await results.next() == 1)
        #expect(lanes.lane(3) === lanes.lane(3))
        #expect(lanes.lane(0) === lanes.first)
        #expect(lanes.all.count == 2)
        lanes.closeAll()
        await served
        #expect(lanes.lane(4) === lanes.first, "nothing would serve another lane")
    }
}
