package import Ledger

/// The state of one tenant's sealing, as known to this process.
package struct SealerStatus: Hashable, Sendable {
    package let tenant: TenantID
    /// Events in the log.
    package let size: Int64
    /// Whether this process seals the log; another one may.
    package let isHeld: Bool
    /// The size that this process signed last, or that the record of another one showed; 0 when there is
    /// none.
    package let signed: Int64
    /// Whether this process made the last signature, or verified it when it acquired the log.
    package let isSignedHere: Bool
    /// The size up to which the whole log was last audited; nil before the first audit.
    package let audited: Int64?
    /// Why nothing more is signed.
    package let refusal: SealingRefusal?
    /// Whether there have been unsigned events for too long.
    package let isStuck: Bool

    /// Whether sealing fails because of the log itself or of this process.
    ///
    /// Not if another process holds the lease: that one knows whether its reason spares signed events, and any
    /// login of a server can write the lease itself.
    package var isDown: Bool { refusal.map { !$0.sparesSignedEvents } ?? (isHeld && isStuck) }
}
