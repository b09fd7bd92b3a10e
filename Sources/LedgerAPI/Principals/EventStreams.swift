package import Ledger
internal import Synchronization

/// What the streams of events work with.
package struct EventStreams: Sendable {
    /// How long streams wait for what.
    package struct Pace: Sendable {
        /// How long commits gather before a stream looks for more.
        package var gather: Duration = .milliseconds(100)
        /// How soon what other processes append is seen.
        package var poll: Duration = .seconds(1)
        /// How long a stream is silent at the most, and how soon it ends when its key is revoked.
        package var heartbeat: Duration = .seconds(15)

        /// The pace of a server.
        package init() {}
    }

    /// How many events one look reads.
    static let pageEvents = 100

    /// Reads the log.
    let events: any EventReader
    /// Wakes streams when this process has appended something.
    let watch: any LogWatch
    private let places: Places
    let pace: Pace

    /// Collects what streams need; so many may be open at once, half of them of one tenant.
    package init(
        events: any EventReader, watch: any LogWatch, countMax: Int, pace: Pace = Pace()
    ) {
        self.events = events
        self.watch = watch
        places = Places(countMax: countMax)
        self.pace = pace
    }

    /// A place among the open streams, for as long as somebody holds it; nil when there is none left.
    func place(for tenant: TenantID) -> Place? {
        Place(of: tenant, in: places)
    }

    /// How many streams each tenant has open.
    fileprivate final class Places: Sendable {
        private let countMax: Int
        private let taken = Mutex<[TenantID: Int]>([:])

        init(countMax: Int) {
            self.countMax = countMax
        }

        func take(for tenant: TenantID) -> Bool {
            taken.withLock { taken in
                let own = taken[tenant, default: 0]
                guard own < max(1, countMax / 2), taken.values.reduce(0, +) < countMax else {
                    return false
                }
                taken[tenant] = own + 1
                return true
            }
        }

        func giveBack(of tenant: TenantID) {
            taken.withLock { taken in
                let own = taken[tenant, default: 0] - 1
                taken[tenant] = own > 0 ? own : nil
            }
        }
    }

    /// One of the places; given back when nobody holds it.
    final class Place: Sendable {
        private let tenant: TenantID
        private let places: Places

        fileprivate init?(of tenant: TenantID, in places: Places) {
            guard places.take(for: tenant) else { return nil }
            self.tenant = tenant
            self.places = places
        }

        deinit {
            places.giveBack(of: tenant)
        }
    }
}
