/// The error for a file or directory that could not be read or written.
///
/// Contains the path and the reason, never the content.
package struct FileFault: Error, Hashable, Sendable, CustomStringConvertible {
    package let path: String
    /// The failed operation.
    package let reason: String

    /// Creates a fault from a path and a reason.
    package init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }

    package var description: String { "\(path) \(reason)" }
}
