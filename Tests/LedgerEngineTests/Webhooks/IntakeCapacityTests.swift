import Cryptography
import Ledger
import StandardWebhooks
import Testing

@testable import LedgerEngine

/// The number of new events that can be enqueued beside pending ones.
@Suite struct IntakeCapacityTests {
    private static let ada = AccountID(bits: 1)

    private var configuration: WebhookConfiguration {
        var configuration = WebhookConfiguration(
            now: { .immediate }, send: { _ in .failed(.stopped) })
        configuration.pendingMax = 10
        configuration.behindMax = 6
        configuration.pageMax = 8
        return configuration
    }

    private func item(
        _ position: Int64, _ account: AccountID?, _ type: Event.Name = .signedIn
    ) -> DeliveryQueue.Item {
        DeliveryQueue.Item(
            position: LogPosition(position), event: EventID(bits: UInt128(position)),
            type: type.rawValue, accounts: account.map { [$0] } ?? [], next: .immediate)
    }

    private func queue(_ items: [DeliveryQueue.Item]) -> DeliveryQueue {
        var queue = DeliveryQueue(pauseMax: .seconds(1))
        queue.add(items)
        return queue
    }

    @Test func `a read is as large as the capacity, and little capacity is not used`() {
        for (inHand, limit) in [(0, 8), (2, 8), (3, 7), (6, 4), (7, 0), (10, 0), (20, 0)] {
            let queue = queue((0..<Int64(inHand)).map { item($0, nil) })
            #expect(IntakeCapacity(beside: queue, configuration).limit == limit, "\(inHand)")
        }
    }

    @Test func `an account's waiting events use no capacity of others`() {
        let queue = queue((0..<4).map { item($0, Self.ada) })
        #expect(queue.firstCount == 1 && queue.behindCount == 3)
        var intake = IntakeCapacity(beside: queue, configuration)
        #expect(intake.limit == 8)
        for position in 4..<7 as Range<Int64> {
            #expect(intake.admits(item(position, Self.ada), beside: queue) == true)
        }
        #expect(
            intake.admits(item(7, Self.ada), beside: queue) == false, "they have a separate limit")
        let bob = AccountID(bits: 2)
        #expect(intake.admits(item(7, bob), beside: queue) == true)
        #expect(intake.admits(item(8, bob), beside: queue) == false, "after the previous one")
        for other in 3..<11 as Range<UInt128> {
            #expect(intake.admits(item(8, AccountID(bits: other)), beside: queue) == true)
        }
        #expect(intake.admits(item(8, AccountID(bits: 11)), beside: queue) == false)
    }

    @Test func `nothing is read while there is no capacity for waiting events`() {
        let some = queue((0..<4).map { item($0, Self.ada) })
        #expect(IntakeCapacity(beside: some, configuration).limit == 8)
        let many = queue((0..<5).map { item($0, Self.ada) })
        #expect(IntakeCapacity(beside: many, configuration).limit == 0)
    }

    @Test func `nothing is enqueued after a restore until it is done`() {
        var intake = IntakeCapacity(beside: queue([]), configuration)
        let restore = item(0, nil, .ledgerRestored)
        #expect(intake.admits(restore, beside: queue([])) == true)
        #expect(intake.admits(item(1, Self.ada), beside: queue([])) == false)
        #expect(IntakeCapacity(beside: queue([restore]), configuration).limit == 0)
    }
}
