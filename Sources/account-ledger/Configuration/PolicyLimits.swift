import CommandLine
import Ledger

/// The limits and lifetimes from the environment, which apply to every tenant.
struct PolicyLimits: Sendable {
    /// The settings that they are read from.
    static let settings: [Setting] = [
        .linkLimit, .linkWindowSeconds, .signInLimit, .reauthenticationSeconds, .sessionIdleSeconds,
        .sessionLifetimeSeconds, .eraseNeedsTwo,
    ]

    let linkBudget: Budget
    let signInBudget: Budget
    let reauthenticationSeconds: Int64
    let sessionIdleSeconds: Int64
    let sessionLifetimeSeconds: Int64
    let eraseNeedsTwo: Bool

    init(_ environment: Environment) throws(Fault) {
        linkBudget = Budget(
            limit: Int(try environment.number(.linkLimit)),
            windowSeconds: try environment.number(.linkWindowSeconds))
        signInBudget = Budget(
            limit: Int(try environment.number(.signInLimit)),
            windowSeconds: 3_600)
        reauthenticationSeconds = try environment.number(.reauthenticationSeconds)
        sessionIdleSeconds = try environment.number(.sessionIdleSeconds)
        sessionLifetimeSeconds = try environment.number(.sessionLifetimeSeconds)
        eraseNeedsTwo = try environment.value(.eraseNeedsTwo, wants: "on or off") {
            ["on": true, "off": false][$0]
        }
    }

    /// The policy of every tenant, without its providers.
    var policy: TenantPolicy {
        var policy = TenantPolicy(providers: [])
        policy.linkBudget = linkBudget
        policy.signInBudget = signInBudget
        policy.reauthenticationSeconds = reauthenticationSeconds
        policy.sessionIdleSeconds = sessionIdleSeconds
        policy.sessionLifetimeSeconds = sessionLifetimeSeconds
        policy.eraseNeedsTwo = eraseNeedsTwo
        return policy
    }
}
