import Ledger

/// The limits and lifetimes of the environment, which hold for every tenant.
struct PolicyLimits: Sendable {
    /// What they are read from.
    static let settings: [Setting] = [
        .linkLimit, .linkWindowSeconds, .signInLimit, .reauthenticationSeconds, .sessionIdleSeconds,
        .sessionLifetimeSeconds,
    ]

    private static let yearSeconds: Int64 = 366 * 86_400

    let linkBudget: Budget
    let signInBudget: Budget
    let reauthenticationSeconds: Int64
    let sessionIdleSeconds: Int64
    let sessionLifetimeSeconds: Int64

    init(_ environment: Environment) throws(Fault) {
        linkBudget = Budget(
            // Each attempt inside the window is kept in the account's row.
            limit: Int(try environment.number(.linkLimit, in: 1...1_000)),
            windowSeconds: try environment.number(.linkWindowSeconds, in: 1...86_400))
        signInBudget = Budget(
            limit: Int(try environment.number(.signInLimit, in: 1...1_000_000)),
            windowSeconds: 3_600)
        reauthenticationSeconds = try environment.number(
            .reauthenticationSeconds, in: 1...Self.yearSeconds)
        sessionIdleSeconds = try environment.number(
            .sessionIdleSeconds, in: 1...10 * Self.yearSeconds)
        sessionLifetimeSeconds = try environment.number(
            .sessionLifetimeSeconds, in: 1...10 * Self.yearSeconds)
    }

    /// The rules that every tenant begins with; its providers come from elsewhere.
    var policy: TenantPolicy {
        var policy = TenantPolicy(providers: [])
        policy.linkBudget = linkBudget
        policy.signInBudget = signInBudget
        policy.reauthenticationSeconds = reauthenticationSeconds
        policy.sessionIdleSeconds = sessionIdleSeconds
        policy.sessionLifetimeSeconds = sessionLifetimeSeconds
        return policy
    }
}
