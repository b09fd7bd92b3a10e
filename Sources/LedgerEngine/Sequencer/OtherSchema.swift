/// An error for a schema whose version differs from this binary's.
package struct OtherSchema: Error, CustomStringConvertible {
    package let found: Int32
    package let wanted: Int32
    /// Whether this is the first time in the process.
    package let isFirstReport: Bool

    package var description: String {
        "the schema is at version \(found) and this binary's is \(wanted):"
            + " every command and every read is refused from now on"
    }

    /// Creates the error of a schema with another version than the wanted one.
    package init(found: Int32, wanted: Int32, isFirstReport: Bool) {
        self.found = found
        self.wanted = wanted
        self.isFirstReport = isFirstReport
    }

    /// Returns the text to log about a failure; nil if it is a schema's version that was reported before.
    package static func logText(of error: any Error) -> String? {
        guard let other = error as? OtherSchema else { return "\(error)" }
        return other.isFirstReport ? other.description : nil
    }
}
