import Ledger
import LedgerTestSupport
import Synchronization

/// The random choices of a simulation other than the scheduler's.
final class Dice: Sendable {
    private let generator: Mutex<SeededGenerator>

    init(seed: UInt64) {
        generator = Mutex(SeededGenerator(seed: seed))
    }

    func chance(_ probability: Double) -> Bool {
        generator.withLock { Double.random(in: 0..<1, using: &$0) } < probability
    }

    func number(_ range: ClosedRange<Int>) -> Int {
        generator.withLock { Int.random(in: range, using: &$0) }
    }

    func microseconds(_ range: ClosedRange<Int64>) -> Int64 {
        generator.withLock { Int64.random(in: range, using: &$0) }
    }

    func id<Kind>() -> EntityID<Kind> {
        generator.withLock { $0.id() }
    }

    func bytes(_ count: Int) -> [UInt8] {
        generator.withLock { $0.bytes(count) }
    }

    func digest() -> Digest {
        LedgerTestSupport.digest(bytes(32))
    }
}
