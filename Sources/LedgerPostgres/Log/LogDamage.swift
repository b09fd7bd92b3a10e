package import Ledger

/// A place in a tenant's log where what is stored cannot be what was written.
///
/// The text names columns, identifiers and checks; it never quotes personal data.
package struct LogDamage: Error, Hashable, Sendable, CustomStringConvertible {
    package let position: LogPosition
    package let fault: String
    /// Whether the right wrapping key would tell more: nothing is known to be wrong with the log.
    package let lacksKey: Bool

    /// Names a place and what is wrong with it.
    package init(position: LogPosition, fault: String, lacksKey: Bool = false) {
        self.position = position
        self.fault = fault
        self.lacksKey = lacksKey
    }

    package var description: String { "position \(position): \(fault)" }
}
