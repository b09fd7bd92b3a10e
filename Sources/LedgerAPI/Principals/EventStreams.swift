package import Ledger
internal import Synchronization

/// The services that event streams use.
package struct EventStreams: Sendable {
    /// The intervals of a stream.
    package struct Pace: Sendable {
        /// The time in which commits accumulate before a stream reads again.
        package var gather: Duration = .milliseconds(100)
        /// The interval at which events of other processes are read.
        package var poll: Duration = .seconds(1)
        /// The longest silence of a stream, and the longest time until it ends after its key is
        /// revoked.
        package var heartbeat: Duration = .seconds(15)

        /// Creates the intervals of a server.
        package init() {}
    }

    /// The number of events that one read returns.
    static let pageEvents = 100

    /// Reads the log.
    let events: any EventReader
    /// Wakes streams when this process has appended events.
    let watch: any LogWatch
    private let slots: Slots
    let pace: Pace

    /// Creates the services for this many open streams, at most half of them of one tenant.
    package init(
        events: any EventReader, watch: any LogWatch, countMax: Int, pace: Pace = Pace()
    ) {
        self.events = events
        self.watch = watch
        slots = Slots(countMax: countMax)
        self.pace = pace
    }

    /// Acquires a slot among the open streams, held until it is released; nil when all are in use.
    func slot(for tenant: TenantID) -> Slot? {
        Slot(of: tenant, in: slots)
    }

    /// The number of open streams by tenant.
    fileprivate final class Slots: Sendable {
        private let countMax: Int
        private let taken = Mutex<[TenantID: Int]>([:])

        init(countMax: Int) {
            self.countMax = countMax
        }

        func acquire(for tenant: TenantID) -> Bool {
            taken.withLock { taken in
                let own = taken[tenant, default: 0]
                guard own < max(1, countMax / 2), taken.values.reduce(0, +) < countMax else {
                    return false
                }
                taken[tenant] = own + 1
                return true
            }
        }

        func release(of tenant: TenantID) {
            taken.withLock { taken in
                let own = taken[tenant, default: 0] - 1
                taken[tenant] = own > 0 ? own : nil
            }
        }
    }

    /// One of the slots; released when the last reference to it is gone.
    final class Slot: Sendable {
        private let tenant: TenantID
        private let slots: Slots

        fileprivate init?(of tenant: TenantID, in slots: Slots) {
            guard slots.acquire(for: tenant) else { return nil }
            self.tenant = tenant
            self.slots = slots
        }

        deinit {
            slots.release(of: tenant)
        }
    }
}
