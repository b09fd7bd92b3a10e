package import Ledger

/// The keys of the rows that a batch of commands needs, collected from the commands and loaded by
/// `unnest`.
package struct BatchKeys {
    /// Keys of subjects: parallel columns.
    package struct Subjects {
        package fileprivate(set) var tenants: [TenantID] = []
        package fileprivate(set) var subjects: [Subject] = []

        mutating func add(_ tenant: TenantID, _ subject: Subject) {
            tenants.append(tenant)
            subjects.append(subject)
        }
    }

    /// Keys of subjects that commands claim: parallel columns.
    package struct Claims {
        package fileprivate(set) var tenants: [TenantID] = []
        package fileprivate(set) var subjects: [Subject] = []
        /// Whether the sign-ins with a subject are counted.
        package fileprivate(set) var countsSignIns: [Bool] = []

        mutating func add(
            _ tenant: TenantID, _ subject: Subject, countsSignIns counts: Bool = false
        ) {
            tenants.append(tenant)
            subjects.append(subject)
            countsSignIns.append(counts)
        }
    }

    /// Ids of sessions or accounts: parallel columns.
    package struct IDs {
        package fileprivate(set) var tenants: [TenantID] = []
        package fileprivate(set) var ids: [UInt128] = []

        mutating func add<Tag>(_ tenant: TenantID, _ id: EntityID<Tag>) {
            tenants.append(tenant)
            ids.append(id.bits)
        }
    }

    /// Keys of identities: parallel columns.
    package struct Identities {
        package fileprivate(set) var tenants: [TenantID] = []
        package fileprivate(set) var accounts: [UInt128] = []
        package fileprivate(set) var ids: [UInt128] = []

        mutating func add(_ tenant: TenantID, _ account: AccountID, _ id: IdentityID) {
            tenants.append(tenant)
            accounts.append(account.bits)
            ids.append(id.bits)
        }
    }

    /// Keys of idempotency records: parallel columns.
    package struct Scopes {
        package fileprivate(set) var tenants: [TenantID] = []
        package fileprivate(set) var scopes: [IdempotencyScope] = []
    }

    /// Keys of single-use ID tokens: parallel columns.
    package struct IDTokens {
        package fileprivate(set) var tenants: [TenantID] = []
        package fileprivate(set) var digests: [Digest] = []
    }

    /// A name of an address, with the provider of whose identity it is the subject.
    package struct ProvedName: Sendable {
        package let name: AddressName
        package let provider: ProviderName
        /// Whether another account's claim of the address ends.
        package let endsClaim: Bool
    }

    /// The number of commands.
    package let commandCount: Int
    package private(set) var tenants: Set<TenantID> = []
    package private(set) var newTenants: Set<TenantID> = []
    /// Subjects that commands claim; the accounts that hold them are loaded with them.
    package private(set) var subjects = Claims()
    /// Sessions that commands are sent in; their accounts are loaded with them.
    package private(set) var sessions = IDs()
    package private(set) var idempotency = Scopes()
    package private(set) var idTokens = IDTokens()
    /// Addresses that commands prove; the accounts that have them are loaded like ``accounts``.
    package private(set) var addresses: [TenantID: [ProvedName]] = [:]
    /// The tenants whose links are found by their subjects.
    package private(set) var subjectTenants: Set<TenantID> = []
    /// The external ids that commands bring.
    package private(set) var names: [TenantID: [ExternalName]] = [:]
    /// The identities whose passwords or keys were checked.
    package private(set) var passwords: [TenantID: [IdentityID]] = [:]
    /// The members of ``passwords`` whose counters are loaded.
    package private(set) var passkeys: Set<IdentityID> = []
    package private(set) var challenges: [TenantID: [ChallengeID]] = [:]
    /// The accounts whose second factors are loaded.
    package private(set) var factors: [TenantID: Set<AccountID>] = [:]
    /// The accounts for whose identities the losses and the last uses of phone numbers are loaded.
    package private(set) var numbers: [TenantID: Set<AccountID>] = [:]
    /// Accounts that commands name; loaded with their legal holds, erasures, and all accounts
    /// merged with them.
    package private(set) var accounts = IDs()
    /// The members of ``accounts`` whose last uses are loaded.
    package private(set) var uses: [TenantID: [AccountID]] = [:]
    /// The members of ``accounts`` whose requests for erasures are loaded.
    package private(set) var erasureRequests: [TenantID: Set<AccountID>] = [:]
    /// The members of ``subjects`` whose accounts are loaded like ``accounts``.
    package private(set) var holderSubjects = Subjects()

    /// Identities that commands name, each with the account that should have held it last.
    package private(set) var identities = Identities()

    /// The requested rules of tenants; the providers with identities are loaded with them.
    package private(set) var rules: [(tenant: TenantID, request: SetRules)] = []

    /// Collects the keys of commands.
    package init(_ commands: [Command]) {
        commandCount = commands.count
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
        case .rotateKey:
            break
        case .signIn(let intent):
            if intent.proof.address == nil {
                subjects.add(tenant, intent.proof.subject, countsSignIns: true)
            }
            addAddress(intent.proof, tenant)
            add(intent.proof.singleUse, tenant)
            if let second = intent.secondFactor {
                add(second.token, tenant)
                factors[tenant, default: []].insert(second.account)
                if let challenge = second.use?.challenge {
                    challenges[tenant, default: []].append(challenge)
                }
            }
        case .linkProvider(let intent):
            sessions.add(tenant, intent.caller.session)
            add(intent.idempotency, tenant)
            guard let proof = intent.credential.proof else { break }
            if proof.address == nil { subjects.add(tenant, proof.subject) }
            if proof.passkey?.registered != nil {
                factors[tenant, default: []].insert(intent.caller.account)
            }
            addAddress(proof, tenant)
            // The link of a number replaces one whose number was lost.
            if proof.address?.kind == .phone { addNumbers(of: intent.caller.account, tenant) }
        case .unlinkProvider(let intent):
            sessions.add(tenant, intent.caller.session)
            factors[tenant, default: []].insert(intent.caller.account)
            addNumbers(of: intent.caller.account, tenant)
            add(intent.idempotency, tenant)
        case .signOut(let intent):
            sessions.add(tenant, intent.caller.session)
            // With the accounts that it absorbed, whose device tokens end, too.
            if intent.scope == .everywhere { accounts.add(tenant, intent.caller.account) }
        case .refreshSession(let intent):
            sessions.add(tenant, intent.session)
        case .eraseAccount(let intent):
            accounts.add(tenant, intent.account)
            if case .unused = intent.agreement {
                uses[tenant, default: []].append(intent.account)
            }
            if intent.step.needsRequest {
                erasureRequests[tenant, default: []].insert(intent.account)
            }
        case .setLegalHold(let intent):
            accounts.add(tenant, intent.account)
        case .liftLegalHold(let intent):
            accounts.add(tenant, intent.account)
        case .changeAccess(let intent):
            accounts.add(tenant, intent.account)
            // Enabling stops planned removals.
            if intent.change == .enable {
                factors[tenant, default: []].insert(intent.account)
            }
        case .recordRestore:
            break
        case .mergeAccounts(let intent):
            add(intent.idempotency, tenant)
            switch intent.authority {
            case .support(_, let named):
                accounts.add(tenant, named.survivor)
                accounts.add(tenant, named.absorbed)
                for account in [named.survivor, named.absorbed] {
                    addNumbers(of: account, tenant)
                    factors[tenant, default: []].insert(account)
                }
            case .holderOfBoth(let caller, let other):
                for holder in [caller, other] {
                    sessions.add(tenant, holder.session)
                    accounts.add(tenant, holder.account)
                    addNumbers(of: holder.account, tenant)
                    factors[tenant, default: []].insert(holder.account)
                }
            case .accountHolder(let caller, let credential):
                sessions.add(tenant, caller.session)
                accounts.add(tenant, caller.account)
                factors[tenant, default: []].insert(caller.account)
                // The identity that is proved, or another one in its place, is a way that was just used.
                addNumbers(of: caller.account, tenant)
                guard let proof = credential.proof else { break }
                addAddress(proof, tenant)
                guard proof.address == nil else { break }
                subjects.add(tenant, proof.subject)
                holderSubjects.add(tenant, proof.subject)
            }
        case .unmergeAccounts(let intent):
            add(intent.idempotency, tenant)
            accounts.add(tenant, intent.survivor)
            accounts.add(tenant, intent.absorbed)
            addNumbers(of: intent.survivor, tenant)
            addNumbers(of: intent.absorbed, tenant)
            factors[tenant, default: []].insert(intent.survivor)
            subjectTenants.insert(tenant)
        case .relinkProvider(let intent):
            accounts.add(tenant, intent.account)
            identities.add(tenant, intent.account, intent.identity)
        case .changePassword(let intent):
            add(intent.renewal, tenant)
            // With the accounts that it absorbed, whose codes end, too.
            accounts.add(tenant, intent.renewal.caller.account)
        case .changeAddress(let intent):
            add(intent.renewal, tenant)
            addAddress(intent.proof, tenant)
            addNames(intent.present, intent.proof.subject.provider, tenant)
        case .recordThrottling(let intent):
            addNames(intent.address, intent.provider, tenant)
        case .takeBackAddress(let intent):
            addAddress(intent.proof, tenant)
        case .resetPassword(let intent):
            addAddress(intent.proof, tenant)
        case .importPassword(let intent):
            if let holder = intent.holder { subjects.add(tenant, holder) }
            addAddress(intent.proof, tenant)
        case .importAccount(let intent):
            names[tenant, default: []].append(intent.name)
            for identity in intent.identities { subjects.add(tenant, identity.subject) }
            for address in intent.addresses {
                for way in address.ways { addNames(address.address.names, way.provider, tenant) }
            }
        case .enrolFactor(let intent):
            sessions.add(tenant, intent.caller.session)
            factors[tenant, default: []].insert(intent.caller.account)
            addNumbers(of: intent.caller.account, tenant)
            add(intent.token, tenant)
            if let subject = intent.factor.subject { subjects.add(tenant, subject) }
            if let challenge = intent.challenge {
                challenges[tenant, default: []].append(challenge)
            }
        case .removeFactor(let intent):
            factors[tenant, default: []].insert(intent.account)
            addNumbers(of: intent.account, tenant)
            switch intent.authority {
            case .accountHolder(let caller), .keptByHolder(let caller):
                sessions.add(tenant, caller.session)
            case .planned(let account): accounts.add(tenant, account)
            }
        case .planFactorRemoval(let intent):
            accounts.add(tenant, intent.account)
            addNumbers(of: intent.account, tenant)
            factors[tenant, default: []].insert(intent.account)
        case .planUnlink(let intent):
            accounts.add(tenant, intent.account)
            addNumbers(of: intent.account, tenant)
            factors[tenant, default: []].insert(intent.account)
        case .endUnlinkPlan(let intent):
            switch intent.ending {
            case .kept(let caller): sessions.add(tenant, caller.session)
            case .due(let account):
                accounts.add(tenant, account)
                addNumbers(of: account, tenant)
                factors[tenant, default: []].insert(account)
            }
        case .setRules(let intent):
            rules.append((tenant: tenant, request: intent))
        }
    }

    private mutating func add(_ renewal: SessionRenewal, _ tenant: TenantID) {
        sessions.add(tenant, renewal.caller.session)
        if let password = renewal.password {
            passwords[tenant, default: []].append(password.identity)
        }
    }

    private mutating func addNumbers(of account: AccountID, _ tenant: TenantID) {
        numbers[tenant, default: []].insert(account)
    }

    private mutating func addAddress(_ proof: Proof, _ tenant: TenantID) {
        if let challenge = proof.challenge { challenges[tenant, default: []].append(challenge) }
        if let password = proof.password {
            passwords[tenant, default: []].append(password.identity)
        }
        add(proof.usedUp, tenant)
        if let version = proof.passkey?.version {
            passwords[tenant, default: []].append(version.identity)
            passkeys.insert(version.identity)
        }
        if let address = proof.address {
            addNames(
                address.names, proof.subject.provider, tenant, endsClaim: proof.endsOtherClaims)
        }
    }

    private mutating func addNames(
        _ names: [AddressName], _ provider: ProviderName, _ tenant: TenantID,
        endsClaim: Bool = false
    ) {
        subjectTenants.insert(tenant)
        addresses[tenant, default: []] += names.map {
            ProvedName(name: $0, provider: provider, endsClaim: endsClaim)
        }
    }

    private mutating func add(_ token: SingleUseIDToken?, _ tenant: TenantID) {
        guard let token else { return }
        idTokens.tenants.append(tenant)
        idTokens.digests.append(token.digest)
    }

    private mutating func add(_ key: IdempotencyKey?, _ tenant: TenantID) {
        for form in key?.all ?? [] {
            idempotency.tenants.append(tenant)
            idempotency.scopes.append(form.scope)
        }
    }
}
