/// A failed check of a bundle, and its location.
///
/// The text names files, positions and checks, and quotes nothing from the bundle.
package struct BundleFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The first position that is or may be bad, if known.
    package let position: Int64?
    package let text: String

    init(_ text: String, at position: Int64? = nil) {
        self.position = position
        self.text = text
    }

    package var description: String {
        position.map { "position \($0): \(text)" } ?? text
    }
}
