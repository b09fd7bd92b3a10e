/// A file or directory that could not be read or written.
///
/// Names the path and what was wrong with it, never the content.
package struct FileFault: Error, Hashable, Sendable, CustomStringConvertible {
    package let path: String
    /// What could not be done.
    package let reason: String

    /// Names a path and a reason.
    package init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }

    package var description: String { "\(path) \(reason)" }
}
