package import Ledger

/// A position in a tenant's log whose stored data cannot be what was written.
///
/// The text names columns, identifiers and checks; it never contains personal data.
package struct LogDamage: Error, Hashable, Sendable, CustomStringConvertible {
    package let position: LogPosition
    package let fault: String
    /// Whether only a wrapping key is missing: no damage to the log is known.
    package let lacksKey: Bool

    /// Creates damage with its position and a description.
    package init(position: LogPosition, fault: String, lacksKey: Bool = false) {
        self.position = position
        self.fault = fault
        self.lacksKey = lacksKey
    }

    package var description: String { "position \(position): \(fault)" }
}
