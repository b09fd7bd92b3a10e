/// The flaw of a providers file, in one line that names the location.
package struct ProvidersFileFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The message, such as `providers[1].audiences must not be empty`.
    package let description: String

    private static let locationCharactersMax = 200

    init(_ location: String, _ problem: String) {
        description = "\(Self.quoted(location)) \(problem)"
    }

    /// Returns the location on one line of limited length, since the file may contain any member
    /// name.
    private static func quoted(_ location: String) -> String {
        let scalars = location.unicodeScalars.prefix(locationCharactersMax).map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: "?" as Unicode.Scalar
            default: scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
