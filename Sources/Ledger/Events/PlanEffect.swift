/// The reason why what support planned for a person took effect.
package enum PlanEffect: Hashable, Sendable {
    /// It was due.
    case due
    /// Another person of support confirmed the request of this one; the role is not stored.
    case confirmed(asker: Principal)
    /// The event is of a version that names no asker: it was due, or its actor confirmed a request.
    case unstated

    /// The reason in an event that names the person whose request was confirmed, if there is one.
    init(asker: Principal?) {
        self = asker.map { PlanEffect.confirmed(asker: $0) } ?? .due
    }

    /// The person whose request the actor confirmed; nil without a confirmation, or where the event does not name one.
    package var asker: Principal? {
        if case .confirmed(let asker) = self { asker } else { nil }
    }

    /// The disclosures of an event of this effect: a person states a reason and a case.
    var requiredDisclosures: [Disclosure.Name] {
        asker == nil ? [] : [.caseReference, .reason]
    }
}
