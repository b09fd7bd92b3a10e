/// What in a bundle is not as it must be, and where.
///
/// The text names files, positions and checks; it quotes nothing from the bundle.
package struct BundleFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The first position that is or may be bad, where one can be told.
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
