import Ledger

/// The rows that a batch of commands has to see: gathered from the commands, loaded by `unnest`.
struct BatchKeys {
    /// Keys of subjects: parallel columns.
    struct Subjects {
        var tenants: [String] = []
        var providers: [String] = []
        var providerIDs: [String] = []

        mutating func add(_ tenant: TenantID, _ subject: ProviderIdentity) {
            tenants.append(tenant.description)
            providers.append(subject.provider.description)
            providerIDs.append(subject.providerID)
        }
    }

    /// Keys of rows named by one identifier: parallel columns.
    struct Identifiers {
        var tenants: [String] = []
        var ids: [UInt128] = []

        mutating func add<Kind>(_ tenant: TenantID, _ id: EntityID<Kind>) {
            tenants.append(tenant.description)
            ids.append(id.bits)
        }
    }

    private(set) var tenants: Set<TenantID> = []
    private(set) var newTenants: Set<TenantID> = []
    /// Subjects that commands claim.
    private(set) var subjects = Subjects()
    /// The ones among them whose sign-ins are counted.
    private(set) var signInSubjects = Subjects()
    private(set) var sessions = Identifiers()
    private(set) var accounts = Identifiers()
    /// Accounts whose budget is asked.
    private(set) var budgets = Identifiers()
    private(set) var idempotency = Identifiers()
    private(set) var idempotencyScopes: [[UInt8]] = []

    init(_ commands: [Command]) {
        for command in commands {
            tenants.insert(command.tenant)
            add(command)
        }
    }

    private mutating func add(_ command: Command) {
        let tenant = command.tenant
        switch command.intent {
        case .openLedger:
            newTenants.insert(tenant)
        case .signIn(let intent):
            subjects.add(tenant, intent.identity)
            signInSubjects.add(tenant, intent.identity)
        case .linkProvider(let intent):
            add(intent.caller, tenant)
            budgets.add(tenant, intent.caller.account)
            add(intent.idempotency, tenant)
            if case .proved(let subject, _) = intent.credential {
                subjects.add(tenant, subject)
            }
        case .unlinkProvider(let intent):
            add(intent.caller, tenant)
            budgets.add(tenant, intent.caller.account)
            add(intent.idempotency, tenant)
        case .signOut(let intent):
            add(intent.caller, tenant)
        case .refreshSession(let intent):
            sessions.add(tenant, intent.session)
        }
    }

    private mutating func add(_ caller: Caller, _ tenant: TenantID) {
        sessions.add(tenant, caller.session)
        accounts.add(tenant, caller.account)
    }

    private mutating func add(_ key: IdempotencyKey?, _ tenant: TenantID) {
        guard let key else { return }
        idempotency.add(tenant, key.scope.account)
        idempotencyScopes.append(key.scope.digest.bytes)
    }
}
