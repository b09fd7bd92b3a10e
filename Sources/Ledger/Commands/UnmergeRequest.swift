/// The agreement of two persons to undo a merge into an account with a second factor.
///
/// The first person's request is stored nowhere: it is the digest of the plan and of that person, which the second one
/// presents.
extension UnmergeAccounts {
    /// The time until which a request can be confirmed, in seconds.
    package static let requestLifetimeSeconds: Int64 = 3600

    /// A person's request, as the ledger issued it.
    package struct Request: Hashable, Sendable {
        package let asker: Principal
        /// The digest that the asker got.
        package let digest: Digest

        /// Describes a request.
        package init(asker: Principal, digest: Digest) {
            self.asker = asker
            self.digest = digest
        }
    }

    /// The part of the caller in an undoing, or in a plan of support, that needs two persons.
    package enum Step: Sendable {
        /// The undoing itself, if one person may.
        case alone
        /// The undoing itself, if one person may; otherwise a request for another one to confirm.
        case ask(HashFunction)
        /// The confirmation of another person's request; nil for one that the ledger did not issue, or that has
        /// expired.
        case confirm(Request?, HashFunction)
    }

    /// The permission to undo, or the decision without an undoing.
    enum Permission {
        /// Undoes, after the request of this person.
        case undo(asker: Principal?)
        case done(Decision)
    }

    /// Decides whether the merge is undone by this command.
    func permission(for plan: Plan, _ survivor: Account) -> Permission {
        switch step {
        case .alone:
            return .undo(asker: nil)
        case .ask(let hash):
            guard !survivor.secondFactors.isEmpty else { return .undo(asker: nil) }
            guard case .principal(let caller) = actor else {
                return .done(.refused(.secondFactorEnrolled))
            }
            guard !isPreview else { return .undo(asker: nil) }
            let digest = hash(bytes(of: plan, survivor, asker: caller))
            return .done(Decision(.success(.unmergeAsked(digest))))
        case .confirm(let request, let hash):
            guard case .principal(let caller) = actor, let request else {
                return .done(.refused(.mergePlanChanged))
            }
            guard !caller.isSame(as: request.asker) else {
                return .done(.refused(.secondPersonRequired))
            }
            guard request.digest == hash(bytes(of: plan, survivor, asker: request.asker)) else {
                return .done(.refused(.mergePlanChanged))
            }
            return .undo(asker: request.asker)
        }
    }

    /// The bytes that the digest of a request covers: they differ for another merge, other links, other second factors
    /// and another asker.
    private func bytes(of plan: Plan, _ survivor: Account, asker: Principal) -> [UInt8] {
        let factors = survivor.secondFactors.map(\.description).joined(separator: ",")
        return Array(
            """
            account-ledger undo plan 1
            \(merge) \(plan.survivor) \(plan.absorbed)
            returned \(plan.returned.planText)
            restored \(plan.restored.planText)
            links \(plan.links.planText)
            factors \(factors)
            asker \(asker)
            """.utf8)
    }
}
