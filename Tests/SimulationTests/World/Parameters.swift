import Ledger
import LedgerTestSupport

/// The kinds of faults in a simulation.
enum Fault: String, CaseIterable, Sendable {
    /// The connection breaks before a batch is committed.
    case connectionLost
    /// The store lacks space or time when a batch commits.
    case commitFails
    /// The store refuses a statement, as it does for a fault of a single command.
    case statementRefused
    /// The store refuses every batch that holds a certain command.
    case poison
    /// The batch is committed, and the connection breaks before the process knows.
    case ackLost
    /// The process has answered, and the answer does not arrive.
    case replyLost
    /// A process dies and another one replaces it later.
    case crash
    /// A process is paused for a while and continues where it was.
    case pause
    /// The database's clock is set back, or forward.
    case clockStep
    /// The database restarts: uncommitted transactions are lost, and maybe the projector's last commits.
    case databaseRestart
    /// A request arrives twice, possibly at two processes.
    case duplicate
    /// Requests and answers are slow and overtake each other.
    case slowNetwork
    /// The projector's connection breaks before or after its commit.
    case projectionFails
    /// The sealer's connection breaks before or after its commit.
    case sealingFails
    /// The dispatcher's connection breaks, or the receiver fails before or after it has accepted an event.
    case deliveryFails

    /// The probability each time that it could happen.
    var probability: Double {
        switch self {
        case .connectionLost, .commitFails, .ackLost, .projectionFails, .sealingFails,
            .deliveryFails:
            0.05
        case .statementRefused, .poison: 0.03
        case .replyLost: 0.04
        case .crash, .databaseRestart: 0.004
        case .pause: 0.01
        case .clockStep: 0.01
        case .duplicate: 0.1
        case .slowNetwork: 0.15
        }
    }
}

/// The size of a simulation and its possible faults.
struct Parameters: Sendable {
    let seed: UInt64
    var clients: Int
    var operations: Int
    var processes: Int
    var tenants: Int
    var subjectsPerProvider: Int
    var batchLimit: Int
    var queueLimit: Int
    /// The number of events in a page of the projector.
    var pageLimit: Int
    var faults: Set<Fault>
    /// The factor on the usual probability of each fault.
    var severity: Double
    /// Whether each tenant has an endpoint to which the processes deliver its events.
    var deliversWebhooks: Bool

    /// Derives the parameters of a seed.
    ///
    /// Seeds differ in size, policies and faults, so that together they cover more than a mixture of
    /// everything would.
    init(seed: UInt64) {
        self.seed = seed
        var generator = SeededGenerator(seed: seed ^ 0x5EED)
        clients = Int.random(in: 2...8, using: &generator)
        operations = Int.random(in: 10...40, using: &generator)
        processes = Int.random(in: 1...3, using: &generator)
        tenants = Int.random(in: 1...3, using: &generator)
        subjectsPerProvider = Int.random(in: 1...4, using: &generator)
        batchLimit = [1, 4, 256][Int.random(in: 0..<3, using: &generator)]
        queueLimit = Int.random(in: 0..<4, using: &generator) == 0 ? 3 : 4096
        pageLimit = [1, 3, 1000][Int.random(in: 0..<3, using: &generator)]
        faults = Set(
            Fault.allCases.filter { $0 != .deliveryFails && Bool.random(using: &generator) })
        severity = [0.5, 1, 3][Int.random(in: 0..<3, using: &generator)]
        // In some seeds only: the dispatchers' steps make those of the other loops rarer.
        deliversWebhooks = Int.random(in: 0..<2, using: &generator) == 0
        if deliversWebhooks, Bool.random(using: &generator) { faults.insert(.deliveryFails) }
    }

    /// The tenants' names and policies.
    var policies: [TenantID: TenantPolicy] {
        var generator = SeededGenerator(seed: seed ^ 0x9011)
        // A generator of its own, so that seeds from before anonymous accounts keep their other choices.
        var anonymous = SeededGenerator(seed: seed ^ 0xA404)
        var codes = SeededGenerator(seed: seed ^ 0xC0DE)
        var claims = SeededGenerator(seed: seed ^ 0xC1A1)
        var keys = SeededGenerator(seed: seed ^ 0xCEE5)
        var numbers = SeededGenerator(seed: seed ^ 0xDE05)
        var policies: [TenantID: TenantPolicy] = [:]
        for index in 0..<3 {
            var policy = TenantPolicy(
                providers: Set(RandomCommands.providers),
                severalPerProvider: Bool.random(using: &generator))
            if Int.random(in: 0..<3, using: &generator) > 0 {
                policy.linkBudget = Budget(limit: 1000, windowSeconds: 3600)
            }
            if Int.random(in: 0..<3, using: &generator) == 0 {
                policy.signInBudget = Budget(limit: 8, windowSeconds: 20)
            }
            if Int.random(in: 0..<3, using: &generator) == 0 { policy.sessionIdleSeconds = 15 }
            if Int.random(in: 0..<3, using: &generator) == 0 { policy.reauthenticationSeconds = 4 }
            if Int.random(in: 0..<3, using: &anonymous) == 0 {
                policy.providers[RandomCommands.anonymous] = ProviderPin(
                    type: .anonymous, issuers: [])
            }
            if Int.random(in: 0..<3, using: &codes) == 0 {
                policy.providers[RandomCommands.email] = ProviderPin(type: .email, issuers: [])
                if Bool.random(using: &claims) {
                    policy.providers[RandomCommands.password] = ProviderPin(
                        type: .password, issuers: [])
                    policy.confirmLater = true
                }
            }
            if Int.random(in: 0..<3, using: &keys) == 0 {
                policy.providers[RandomCommands.passkey] = ProviderPin(
                    type: .passkey, issuers: [World.passkeyDomain])
            }
            if Int.random(in: 0..<3, using: &numbers) == 0 {
                policy.providers[RandomCommands.phone] = ProviderPin(type: .phone, issuers: [])
                policy.phoneUnusedDays = 30
            }
            if index < tenants { policies[tenant("tenant-\(index)")] = policy }
        }
        return policies
    }
}

extension Parameters: CustomStringConvertible {
    var description: String {
        let names = faults.map(\.rawValue).sorted().joined(separator: ", ")
        return """
            \(clients) clients of \(operations) operations, \(processes) processes, \
            \(tenants) tenants, \(subjectsPerProvider) subjects a provider, batches of \
            \(batchLimit), queue of \(queueLimit), severity \(severity), \(deliversWebhooks ? "webhooks, " : "")\
            faults: \(names.isEmpty ? "none" : names)
            """
    }
}
