package import Ledger

/// How sealing stands for one tenant, as far as this process knows.
package struct SealerStatus: Hashable, Sendable {
    package let tenant: TenantID
    /// Events in the log.
    package let size: Int64
    /// Whether this process seals the log; another one may.
    package let isHeld: Bool
    /// The size that this process signed last, or another one as its record was last seen; 0 when none.
    package let signed: Int64
    /// Whether it was this process that signed last, or found the last signature in place when it took the log.
    package let isSignedHere: Bool
    /// The size up to which the whole log was last held against everything signed; nil before the first
    /// time.
    package let audited: Int64?
    /// Why nothing more is signed.
    package let refusal: SealingRefusal?
    /// Whether there has been something to sign for too long, of which nothing was signed.
    package let isStuck: Bool

    /// Whether the log is not sealed for a reason that lies in it, or in the process.
    package var isDown: Bool { refusal.map { !$0.isOfCheckpointAlone } ?? isStuck }
}
