/// The part of a caller in a change that needs two persons of support.
///
/// The first person's request is stored nowhere: it is the digest of the plan and of that person, which the second one
/// presents.
package enum TwoPersonStep: Sendable {
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

    /// The change itself, if one person may.
    case alone
    /// The change itself, if one person may; otherwise a request for another one to confirm.
    case ask(HashFunction)
    /// The confirmation of another person's request; nil for one that the ledger did not issue, or that has
    /// expired.
    case confirm(Request?, HashFunction)

    /// The permission for a change, or the request for another person to confirm.
    enum Permission {
        /// Acts, after the request of this person.
        case act(asker: Principal?)
        case ask(Digest)
    }

    /// Decides whether the caller's command makes the change.
    ///
    /// - Parameters:
    ///   - actor: the caller.
    ///   - isNeeded: whether the change needs two persons.
    ///   - isPreview: whether only the plan is requested.
    ///   - bytes: returns the bytes that the digest of a person's request covers.
    /// - Returns: the permission, with the person who asked; or the request for another person to confirm.
    /// - Throws: the refusal of a person who may not make the change.
    func permission(
        of actor: Actor, isNeeded: Bool, isPreview: Bool, _ bytes: (Principal) -> [UInt8]
    ) throws(Refusal) -> Permission {
        switch self {
        case .alone:
            guard !isNeeded else { throw .secondFactorEnrolled }
            return .act(asker: nil)
        case .ask(let hash):
            guard isNeeded else { return .act(asker: nil) }
            guard case .principal(let caller) = actor else { throw .secondFactorEnrolled }
            return isPreview ? .act(asker: nil) : .ask(hash(bytes(caller)))
        case .confirm(let request, let hash):
            guard case .principal(let caller) = actor, let request else {
                throw .mergePlanChanged
            }
            guard !caller.isSame(as: request.asker) else { throw .secondPersonRequired }
            guard request.digest == hash(bytes(request.asker)) else { throw .mergePlanChanged }
            return .act(asker: request.asker)
        }
    }
}

extension MergePlan {
    /// The bytes that the digest of a person's request covers: they differ for another plan and another asker.
    package func bytes(asker: Principal) -> [UInt8] { bytes + Array("\nasker \(asker)".utf8) }
}
