/// The kind of an ``ErasureRequestID``.
package enum ErasureRequestKind {}
/// The id of one request for an erasure.
package typealias ErasureRequestID = EntityID<ErasureRequestKind>

/// An erasure that an administrator asked for, and that another one has to confirm.
///
/// An account has at most one. It is no event: nothing has happened to the account.
package struct ErasureRequest: Hashable, Sendable {
    /// The time until which it can be confirmed, in seconds.
    package static let lifetimeSeconds: Int64 = 86_400

    package let id: ErasureRequestID
    /// The account that was named.
    package let account: AccountID
    package let asker: Principal
    /// The digest of the plan that the asker agreed to.
    package let plan: Digest
    package let basis: AccountErased.Basis
    /// The asker's reason, as in the access log; may be personal data.
    package let reason: String
    package let askedAt: Timestamp
    package let expiresAt: Timestamp

    /// Describes a request.
    package init(
        id: ErasureRequestID, account: AccountID, asker: Principal, plan: Digest,
        basis: AccountErased.Basis, reason: String, askedAt: Timestamp, expiresAt: Timestamp
    ) {
        self.id = id
        self.account = account
        self.asker = asker
        self.plan = plan
        self.basis = basis
        self.reason = reason
        self.askedAt = askedAt
        self.expiresAt = expiresAt
    }
}

extension Principal {
    /// Returns the principal of a text of its description, such as `staff:<id>`, with a role, which such a text lacks;
    /// nil for another text.
    package static func named(_ text: String, role: Role) -> Principal? {
        for kind in Kind.allCases where text.hasPrefix("\(kind.rawValue):") {
            let id = EntityID<PrincipalKind>(canonical: text.dropFirst(kind.rawValue.count + 1))
            return id.map { Principal(kind, $0.bits, role: role) }
        }
        return nil
    }

    /// Whether both are the same API key or the same person, in whatever roles.
    func isSame(as other: Principal) -> Bool { kind == other.kind && id == other.id }
}

extension EraseAccount {
    /// The part of the caller in an erasure that needs two people.
    package enum Step: Sendable {
        /// The erasure itself, if the rules leave it to one person.
        case alone
        /// The erasure itself, if the rules leave it to one person; otherwise a request under this id for another
        /// administrator to confirm.
        case ask(ErasureRequestID, reason: String, HashFunction)
        /// The confirmation of another administrator's request.
        case confirm(ErasureRequestID)
        /// The end of a request without an erasure.
        case withdraw(ErasureRequestID)

        /// Whether the request of the account matters.
        package var needsRequest: Bool {
            if case .alone = self { false } else { true }
        }
    }

    /// The permission to erase, or the decision without an erasure.
    enum Permission {
        /// Erases, after the request of this administrator.
        case erase(AccountErased.Basis, asker: Principal?)
        case done(Decision)
    }

    /// Decides whether the plan, which was agreed to, is executed by this command.
    ///
    /// A request whose accounts have changed since is void: its confirmation ends it, and another request replaces
    /// it. Operators, who hold the keys and set the rules, erase alone, and so does retention.
    func permission(
        for plan: ErasurePlan, in state: DecisionState, at now: Timestamp,
        under policy: TenantPolicy
    ) -> Permission {
        let present = state.erasureRequests[account].flatMap { now < $0.expiresAt ? $0 : nil }
        switch step {
        case .withdraw:
            return .done(.refused(.unknownErasureRequest))
        case .confirm(let id):
            guard let present, present.id == id, case .principal(let caller) = actor,
                case .plan(let agreed, _) = agreement
            else { return .done(.refused(.unknownErasureRequest)) }
            guard !caller.isSame(as: present.asker) else {
                return .done(.refused(.secondAdministratorRequired))
            }
            guard present.plan == agreed else {
                return .done(
                    Decision(
                        .failure(.erasurePlanChanged), effects: [.erasureRequestEnded(account)]))
            }
            return .erase(present.basis, asker: present.asker)
        case .alone, .ask:
            guard case .principal(let caller) = actor, policy.eraseNeedsTwo else {
                return .erase(basis, asker: nil)
            }
            guard case .ask(let id, let reason, let hash) = step else {
                return .done(.refused(.secondAdministratorRequired))
            }
            let request = ErasureRequest(
                id: id, account: account, asker: caller, plan: hash(plan.bytes), basis: basis,
                reason: reason, askedAt: now,
                expiresAt: now.adding(seconds: ErasureRequest.lifetimeSeconds))
            return .done(ask(request, besides: present))
        }
    }

    /// Asks for an erasure; the same request of the same administrator is answered with the present one.
    private func ask(_ request: ErasureRequest, besides present: ErasureRequest?) -> Decision {
        if let present, present.plan == request.plan {
            guard present.asker.isSame(as: request.asker) else {
                return .refused(.erasureRequested)
            }
            if present.basis == basis { return Decision(.success(.erasureAsked(present))) }
        }
        return Decision(.success(.erasureAsked(request)), effects: [.erasureAsked(request)])
    }

    /// Ends a request without an erasure.
    func withdraw(
        _ id: ErasureRequestID, in state: DecisionState, at now: Timestamp
    ) -> Decision {
        guard let present = state.erasureRequests[account], present.id == id,
            now < present.expiresAt
        else { return .refused(.unknownErasureRequest) }
        return Decision(.success(.erasureWithdrawn), effects: [.erasureRequestEnded(account)])
    }

    /// Withdraws a request.
    package struct Withdrawal: LedgerRequest {
        /// Nothing is left to confirm.
        package struct Success: Hashable, Sendable {}

        private let command: EraseAccount

        /// Withdraws an administrator's own request or another one's.
        package init(_ request: ErasureRequestID, of account: AccountID, actor: Actor) {
            command = EraseAccount(
                account: account, basis: .dataSubjectRequest, agreement: .named,
                step: .withdraw(request), actor: actor)
        }

        package var intent: Command.Intent { .eraseAccount(command) }

        /// Returns the result in a reply to the withdrawal.
        package static func success(in reply: Reply) -> Success? {
            guard case .erasureWithdrawn = reply else { return nil }
            return Success()
        }
    }
}
