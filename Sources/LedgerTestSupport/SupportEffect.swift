package import Ledger

extension Event {
    /// The reason why what support planned took effect in this event; nil for any other event.
    package var supportEffect: PlanEffect? {
        switch self {
        case .providerUnlinked(let fact) where fact.cause == .support: fact.effect
        case .secondFactorRemoved(let fact) where fact.cause == .support: fact.effect
        default: nil
        }
    }
}
