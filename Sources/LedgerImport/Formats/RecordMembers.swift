internal import JSON

extension JSONMembers {
    /// From this number on, the `Double` of a whole number may be that of its neighbour, too.
    private static let inexactFrom = 0x1p53

    /// Returns a member that is a text or a whole number, as some systems write the same id.
    ///
    /// A number of 2^53 or more is refused: the reader may have rounded it to the id of another person.
    func id(_ name: String) -> String? {
        switch self[name] {
        case .string(let text)?: text
        case .number(let number)? where number.magnitude < Self.inexactFrom:
            Int64(exactly: number).map { "\($0)" }
        default: nil
        }
    }

    /// Returns a member that is a text which is not empty.
    func text(_ name: String) -> String? {
        guard let text = self[name]?.string, !text.isEmpty else { return nil }
        return text
    }

    /// Whether a member is `true`.
    func isTrue(_ name: String) -> Bool { flag(name) == true }

    /// Returns a member that is `true` or `false`.
    func flag(_ name: String) -> Bool? {
        if case .bool(let flag)? = self[name] { flag } else { nil }
    }

    /// Whether a member has a value that is not null or empty.
    func has(_ name: String) -> Bool {
        switch self[name] {
        case nil, .null?: false
        case .string(let text)?: !text.isEmpty
        case .array(let elements)?: !elements.isEmpty
        case .object(let members)?: members.count > 0
        case .bool?, .number?: true
        }
    }
}
