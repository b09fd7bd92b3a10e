import Ledger
import LedgerTestSupport

/// An app on a device: signs in, links, unlinks and repeats unanswered requests.
///
/// A request with an idempotency key is repeated until it is answered; others sometimes.
struct Client {
    struct Device {
        let caller: Caller
        let tenant: TenantID
        /// All its refresh tokens, the current one last.
        var tokens: [Digest]
    }

    struct Sent {
        let request: Request
        let tenant: TenantID
    }

    let world: World
    private(set) var devices: [Device] = []
    private var lastKeyed: Sent?
    /// The legal holds that it has set.
    private var holds: [(account: AccountID, hold: HoldID, tenant: TenantID)] = []
    /// The accounts that it has disabled.
    private var disabled: [(account: AccountID, tenant: TenantID)] = []
    /// The previewed plan of a merge, which the client confirms next.
    private var planned: Sent?
    private var merges: [(event: EventID, plan: MergePlan, tenant: TenantID)] = []

    init(_ world: World) {
        self.world = world
    }

    var dice: Dice { world.dice }

    /// Performs the number of operations that the simulation asks of a client.
    mutating func run() async {
        for _ in 0..<world.parameters.operations where !world.isOver {
            await world.scheduler.sleep(microseconds: dice.microseconds(0...30_000))
            await ask(next())
        }
    }

    /// Signs in after the last fault: the last request that has to be answered.
    mutating func probe() async {
        await ask(signIn(in: randomTenant()), untilAnswered: true)
    }

    private mutating func ask(_ sent: Sent, untilAnswered: Bool = false) async {
        let repeats = untilAnswered || sent.request.hasKey || dice.chance(0.3)
        var slot = dice.number(0...world.parameters.processes - 1)
        while true {
            switch await world.call(sent.request, tenant: sent.tenant, slot: slot) {
            case .answered(.success(let result), let command):
                return learn(result, command)
            case .answered(.failure(.internalFailure), _): return
            case .answered(.failure, _), .lost:
                guard repeats, !world.isOver else { return }
                await world.scheduler.sleep(microseconds: dice.microseconds(10_000...500_000))
                slot = dice.number(0...world.parameters.processes - 1)
            }
        }
    }

    private mutating func next() -> Sent {
        // Sometimes a proxy repeats a request that was answered long ago.
        if let lastKeyed, dice.chance(0.08) { return lastKeyed }
        if let agreed = planned.take() {
            if agreed.request.hasKey { lastKeyed = agreed }
            return agreed
        }
        guard !devices.isEmpty else { return signIn(in: randomTenant()) }
        let device = devices.suffix(6).randomElement(dice)
        if let later = signInLater(in: device.tenant) { return later }
        let sent =
            switch dice.number(0...99) {
            case ..<20: signIn(in: device.tenant)
            case ..<50: link(device)
            case ..<70: unlink(device)
            case ..<77:
                Sent(
                    request: .signOut(device.caller, dice.chance(0.3) ? .everywhere : .session),
                    tenant: device.tenant)
            case ..<78: Sent(request: .rotateKey, tenant: device.tenant)
            case ..<82: administer(device)
            case ..<90: merge(device)
            case ..<93: relink(device)
            case ..<95: changeAccess(device)
            case ..<96: changeFactors(device)
            case ..<97: changeAddress(device)
            default: refresh(device)
            }
        if sent.request.hasKey { lastKeyed = sent }
        return sent
    }

    private func randomEmail() -> Email {
        Email("a\(dice.number(0...3))@b.c", isVerified: dice.chance(0.5))
    }

    private func signIn(in tenant: TenantID) -> Sent {
        Sent(
            request: .signIn(
                randomSubject(of: tenant), email: dice.chance(0.5) ? randomEmail() : nil,
                createAccount: dice.chance(0.9)),
            tenant: tenant)
    }

    private func link(_ device: Device) -> Sent {
        var key = randomKey(device.caller.account)
        if let earlier = lastKeyed?.request.key, earlier.scope.account == device.caller.account,
            dice.chance(0.05)
        {
            // The same key for another request.
            key = IdempotencyKey(scope: earlier.scope, fingerprint: dice.digest())
        }
        return Sent(
            request: .link(
                device.caller, randomSubject(of: device.tenant), token: dice.digest(), key: key,
                isInvalid: dice.chance(0.1)),
            tenant: device.tenant)
    }

    /// Unlinks an identity; sometimes support plans it, or a plan ends.
    private func unlink(_ device: Device) -> Sent {
        if dice.chance(0.2), let change = planUnlink(device) { return change }
        return Sent(
            request: .unlink(
                device.caller, randomSubject(of: device.tenant).provider,
                key: randomKey(device.caller.account)),
            tenant: device.tenant)
    }

    /// Plans or stops the unlink of an identity of the device's account.
    private func planUnlink(_ device: Device) -> Sent? {
        let known = (world.database.tenants[device.tenant]?.identities ?? [:]).values
            .sorted { $0.id < $1.id }
        let linked = known.filter { $0.account == device.caller.account }
        guard !linked.isEmpty else { return nil }
        return Sent(
            request: .planUnlink(device.caller.account, linked.randomElement(dice).id),
            tenant: device.tenant)
    }

    /// Returns an administrator's request about the device's account, or one of its former accounts.
    private mutating func administer(_ device: Device) -> Sent {
        let account = device.caller.account
        if dice.chance(0.05) {
            guard dice.chance(0.5), var policy = world.policies[device.tenant] else {
                return Sent(request: .recordRestore, tenant: device.tenant)
            }
            policy.sessionLifetimeSeconds -= Int64(dice.number(0...2))
            return Sent(request: .setRules(policy), tenant: device.tenant)
        }
        if dice.chance(0.4) { return Sent(request: .hold(account), tenant: device.tenant) }
        guard dice.chance(0.6), let held = holds.popLast() else {
            return Sent(request: .erase(account), tenant: device.tenant)
        }
        return Sent(request: .lift(held.account, held.hold), tenant: held.tenant)
    }

    /// Returns support's request to disable the device's account or to end its sessions, or to enable an
    /// account.
    private mutating func changeAccess(_ device: Device) -> Sent {
        if dice.chance(0.6), let disabled = disabled.popLast() {
            return Sent(
                request: .changeAccess(disabled.account, .enable), tenant: disabled.tenant)
        }
        let change: ChangeAccess.Change = dice.chance(0.6) ? .disable : .endSessions
        return Sent(
            request: .changeAccess(device.caller.account, change), tenant: device.tenant)
    }

    /// Enrols or removes a second factor of the device's account, or renews its recovery codes.
    private func changeFactors(_ device: Device) -> Sent {
        let known = (world.database.tenants[device.tenant]?.heldFactors ?? [:]).values
            .map(\.factor).filter { $0.holder == device.caller.account }.sorted { $0.id < $1.id }
        if !known.isEmpty, dice.chance(0.4) {
            let factor = known.randomElement(dice).id
            return Sent(
                request: dice.chance(0.3)
                    ? .planRemoval(device.caller.account, factor)
                    : .removeFactor(
                        dice.chance(0.2)
                            ? .keptByHolder(device.caller) : .accountHolder(device.caller), factor),
                tenant: device.tenant)
        }
        let hasKeys = world.policies[device.tenant]?.providers[RandomCommands.passkey] != nil
        let kind: FactorKind =
            hasKeys && dice.chance(0.5)
            ? .passkey : dice.chance(0.7) ? .totp : .recoveryCodes
        return Sent(
            request: .enrol(device.caller, kind),
            tenant: device.tenant)
    }

    /// Previews a merge into the device's account, or undoes one.
    private mutating func merge(_ device: Device) -> Sent {
        if dice.chance(0.6), let merge = merges.popLast() {
            return Sent(
                request: .unmerge(
                    merge.event, survivor: merge.plan.survivor, absorbed: merge.plan.absorbed,
                    key: randomKey(merge.plan.survivor)),
                tenant: merge.tenant)
        }
        let others = devices.suffix(6).filter { $0.tenant == device.tenant }
        let other = others.randomElement(dice).caller
        let authority: MergeAccounts.Authority =
            switch dice.number(0...3) {
            case 0: .holderOfBoth(device.caller, other)
            case 1: .accountHolder(device.caller, randomCredential(of: device.tenant))
            default:
                .support(
                    .principal(Principal(key: dice.id(), role: .support)),
                    MergeAccounts.Case(
                        survivor: device.caller.account, absorbed: other.account,
                        reason: "one person", reference: "7", step: .ask(sha256)))
            }
        var kept = Set(RandomCommands.providers.filter { _ in dice.chance(0.2) })
        if hasNumbers(device.tenant), dice.chance(0.2) { kept.insert(RandomCommands.phone) }
        return Sent(
            request: .merge(
                MergeAccounts(
                    authority: authority, keepsAbsorbed: kept, agreed: nil,
                    digest: sha256)), tenant: device.tenant)
    }

    /// Reverses an unlink, usually one that happened.
    private func relink(_ device: Device) -> Sent {
        let known = (world.database.tenants[device.tenant]?.identities ?? [:]).values
            .sorted { $0.id < $1.id }
        let free = known.filter { $0.account == nil }
        let wanted = free.isEmpty || dice.chance(0.2) ? known : free
        guard !wanted.isEmpty else { return refresh(device) }
        let identity = wanted.randomElement(dice)
        let account = dice.chance(0.8) ? identity.lastAccount : device.caller.account
        return Sent(request: .relink(account, identity.id), tenant: device.tenant)
    }

    func refresh(_ device: Device) -> Sent {
        let isStale = dice.chance(0.08)
        let token = device.tokens[isStale ? 0 : device.tokens.count - 1]
        return Sent(
            request: .refresh(device.caller.session, presented: token), tenant: device.tenant)
    }

    private mutating func learn(_ result: Result<Reply, Refusal>, _ command: Command) {
        switch (result, command.intent) {
        case (.success(.signedIn(let grant, _)), .signIn(let intent)):
            devices.append(
                Device(
                    caller: Caller(account: grant.account, session: grant.session),
                    tenant: command.tenant, tokens: [intent.refreshToken]))
        case (.success(.refreshed(let grant, let exchange)), .refreshSession(let intent)):
            let index = devices.firstIndex { $0.caller.session == grant.session }
            guard let index else { return }
            switch exchange {
            case .fresh: devices[index].tokens.append(intent.successor)
            case .repeated(let successor): devices[index].tokens.append(digest(successor))
            }
        case (.success(.holdSet(let hold)), .setLegalHold(let intent)):
            holds.append((account: intent.account, hold: hold, tenant: command.tenant))
        case (.success(.accessChanged), .changeAccess(let intent)):
            guard intent.change == .disable else { return }
            disabled.append((account: intent.account, tenant: command.tenant))
        case (.success(.mergePlanned(let plan, let digest)), .mergeAccounts(let intent)):
            planned = Sent(
                request: .merge(
                    intent.agreed(to: plan, digest, idempotency: randomKey(intent.survivor))),
                tenant: command.tenant)
        case (.failure(.secondFactorRequired(let account)), .signIn(let intent)):
            planned = Sent(
                request: .secondStep(intent.proof, account), tenant: command.tenant)
        case (.success(.factorEnrolled(_, let grant?)), .enrolFactor(let intent)):
            devices.append(
                Device(
                    caller: Caller(account: grant.account, session: grant.session),
                    tenant: command.tenant, tokens: [intent.refreshToken]))
            guard dice.chance(0.5) else { return }
            planned = Sent(
                request: dice.chance(0.6)
                    ? .planRemoval(grant.account, intent.factor.id)
                    : .removeFactor(
                        .accountHolder(Caller(account: grant.account, session: grant.session)),
                        intent.factor.id),
                tenant: command.tenant)
        case (.success(.addressChanged(let grant)), .changeAddress(let intent)):
            devices.append(
                Device(
                    caller: Caller(account: grant.account, session: grant.session),
                    tenant: command.tenant, tokens: [intent.renewal.refreshToken]))
            guard dice.chance(0.5), let former = text(of: intent.present) else { return }
            planned = Sent(request: .takeBack(former), tenant: command.tenant)
        case (.success(.factorRemovalPlanned(let plan, _?)), _):
            let holder = devices.last { $0.caller.account == plan.account }
            guard let holder, plan.due != nil else { return }
            planned = Sent(
                request: .removeFactor(.keptByHolder(holder.caller), plan.factor),
                tenant: command.tenant)
        case (.success(.unlinkPlanned(let plan, _?)), _):
            guard plan.due != nil, dice.chance(0.8) else { return }
            let holder = devices.last { $0.caller.account == plan.account }
            let kept = dice.chance(0.4) ? holder.map { EndUnlinkPlan.Ending.kept($0.caller) } : nil
            if kept == nil { world.letPass(seconds: 90_000) }
            planned = Sent(
                request: .endUnlinkPlan(kept ?? .due(plan.account), plan.identity),
                tenant: command.tenant)
        case (.success(.merged(let plan, let event?)), _):
            merges.append((event: event, plan: plan, tenant: command.tenant))
        case (.failure(.sessionEnded), _):
            // Usually it gives up; sometimes it keeps trying.
            guard let caller = command.caller, dice.chance(0.7) else { return }
            devices.removeAll { $0.caller == caller }
        default: break
        }
    }

    private func randomTenant() -> TenantID {
        world.tenants.randomElement(dice)
    }

    private func randomSubject(of tenant: TenantID) -> Subject {
        let hasAnonymous =
            world.policies[tenant]?.providers[RandomCommands.anonymous] != nil
        if hasAnonymous, dice.chance(0.2) {
            // More of them, because each ends with its first link.
            let number = dice.number(1...16 * world.parameters.subjectsPerProvider)
            return subject(RandomCommands.anonymous.description, "s\(number)")
        }
        let number = dice.number(1...world.parameters.subjectsPerProvider)
        if hasNumbers(tenant), dice.chance(0.25) {
            return World.addressSubject(World.number(number))
        }
        if world.policies[tenant]?.providers[RandomCommands.passkey] != nil, dice.chance(0.25) {
            return subject(RandomCommands.passkey.description, "s\(number)")
        }
        if world.policies[tenant]?.providers[RandomCommands.email] != nil, dice.chance(0.3) {
            let hasPasswords = world.policies[tenant]?.providers[RandomCommands.password] != nil
            let provider =
                hasPasswords && dice.chance(0.5) ? RandomCommands.password : RandomCommands.email
            return subject(provider.description, "s\(number)@example.com")
        }
        return subject(RandomCommands.providers.randomElement(dice).description, "s\(number)")
    }

    private func randomCredential(of tenant: TenantID) -> Credential {
        let subject = randomSubject(of: tenant)
        let isInvalid = dice.chance(0.1)
        return Credential(
            provider: subject.provider, digest: dice.digest(),
            check: isInvalid ? .failure(.invalid) : .success(world.proof(subject, in: tenant)))
    }

    private func randomKey(_ account: AccountID) -> IdempotencyKey? {
        guard dice.chance(0.6) else { return nil }
        return IdempotencyKey(
            scope: IdempotencyScope(account: account, digest: dice.digest()),
            fingerprint: dice.digest())
    }
}

extension RandomAccessCollection where Index == Int {
    /// Returns one of the elements; there must be one.
    func randomElement(_ dice: Dice) -> Element {
        self[dice.number(startIndex...endIndex - 1)]
    }
}
