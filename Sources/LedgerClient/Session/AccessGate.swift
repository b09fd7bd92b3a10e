/// Decides whether the stored session may be used, such as by a fingerprint (`LAContext.evaluatePolicy`).
///
/// It is asked before the first use after the start of the app or ``AuthSession/lock()``, and once for all calls that
/// wait. The profile is shown without it.
public protocol AccessGate: Sendable {
    /// Asks the person.
    ///
    /// - Returns: Whether the session may be used.
    func open() async -> Bool
}
