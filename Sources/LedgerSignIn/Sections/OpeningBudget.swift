package import Ledger
internal import Synchronization

/// The number of accounts that one process opens without a proof by a provider or a code: an hourly limit for each
/// client network, and one for the tenant.
///
/// Both refill evenly, so that a network that has used up its limit of 20 may open another account after
/// three minutes (the generic cell rate algorithm). Kept in memory only: it bounds the growth of the log,
/// and no record of networks is worth having for that.
package final class OpeningBudget: Sendable {
    /// The members of a provider's section that set the limits.
    static let members: Set<String> = [networkMember, tenantMember]
    private static let networkMember = "hourly_limit_per_network"
    private static let tenantMember = "hourly_limit"
    private static let networkLimitDefault = 20
    private static let tenantLimitDefault = 10_000
    private static let limitMax: Int64 = 1_000_000
    private static let windowMicroseconds: Int64 = 3_600_000_000
    /// The maximum number of networks that are remembered; a network with its full limit needs no record.
    private static let networksMax = 100_000

    private let networkLimit: Int
    private let tenantLimit: Int
    private let state = Mutex(State())

    private struct State {
        /// The time at which each network has its full limit again, in microseconds.
        var networks: [String: Int64] = [:]
        var tenant: Int64 = 0
    }

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - networkLimit: The number of accounts an hour for each client network; at least 1.
    ///   - tenantLimit: The number of accounts an hour for all; at least 1.
    package init(networkLimit: Int, tenantLimit: Int) {
        self.networkLimit = networkLimit
        self.tenantLimit = tenantLimit
    }

    /// Creates a budget with the default limits.
    package convenience init() {
        self.init(networkLimit: Self.networkLimitDefault, tenantLimit: Self.tenantLimitDefault)
    }

    /// Reads the limits of a provider's section of the providers file.
    convenience init(_ object: StrictObject) throws(ProvidersFileFault) {
        func limit(_ name: String) throws(ProvidersFileFault) -> Int? {
            try object.optionalNumber(name, 1...Self.limitMax).map { Int($0) }
        }
        self.init(
            networkLimit: try limit(Self.networkMember) ?? Self.networkLimitDefault,
            tenantLimit: try limit(Self.tenantMember) ?? Self.tenantLimitDefault)
    }

    /// The number of networks without their full limits, or that had not when they were last counted.
    package var networkCount: Int { state.withLock { $0.networks.count } }

    /// Counts one more account, if both limits allow it.
    ///
    /// - Returns: nil, or the whole seconds to wait when a limit is used up; nothing is taken then.
    package func take(for network: String, at now: Timestamp) -> Int64? {
        let now = now.microseconds
        return state.withLock { state in
            let ofNetwork = Self.next(state.networks[network], networkLimit, now)
            let ofTenant = Self.next(state.tenant, tenantLimit, now)
            let wait = max(ofNetwork.wait, ofTenant.wait)
            guard wait <= 0 else { return (wait + 999_999) / 1_000_000 }
            state.networks[network] = ofNetwork.full
            state.tenant = ofTenant.full
            if state.networks.count > Self.networksMax { Self.forget(&state, now) }
            return nil
        }
    }

    /// Removes the count of an account that was not opened after all.
    package func giveBack(to network: String) {
        state.withLock { state in
            state.networks[network]? -= Self.interval(networkLimit)
            state.tenant -= Self.interval(tenantLimit)
        }
    }

    /// Returns the time in which a limit refills by one account, in microseconds.
    private static func interval(_ limit: Int) -> Int64 { windowMicroseconds / Int64(limit) }

    /// Returns the time at which a limit is full again after one more account, and the time to wait for it.
    private static func next(
        _ full: Int64?, _ limit: Int, _ now: Int64
    ) -> (full: Int64, wait: Int64) {
        // A time after a clock was set back would be further in the future than a limit can be.
        let from = min(max(full ?? 0, now), now + windowMicroseconds)
        let next = from + interval(limit)
        return (full: next, wait: next - now - windowMicroseconds)
    }

    /// Forgets the networks with full limits, and all if they are not half of them.
    private static func forget(_ state: inout State, _ now: Int64) {
        state.networks = state.networks.filter { $0.value > now }
        if state.networks.count > networksMax / 2 { state.networks = [:] }
    }
}
