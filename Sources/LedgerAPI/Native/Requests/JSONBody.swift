internal import HTTP
internal import JSON

/// The body format of the native surface: one JSON object.
///
/// Refuses bodies that are not declared as JSON, duplicate member names, lone surrogates, U+0000 in
/// any string, and nesting deeper than `JSONValue.depthMax`.
enum JSONBody {
    /// Returns the members of a body; an empty one means `{}` where the route allows it.
    static func members(
        of call: RouteCall, mayBeEmpty: Bool
    ) throws(APIError) -> JSONMembers {
        let body = call.content
        guard !body.isEmpty else {
            guard mayBeEmpty else {
                throw .invalidRequest(RequestFlaw("The body must be a JSON object"))
            }
            return [:]
        }
        let types = call.contentTypes
        guard types.count == 1, MediaType(types[0])?.isJSON == true else { throw .notJSON }
        guard let value = JSONValue(parsing: body) else {
            throw .invalidRequest(
                RequestFlaw("The body is not valid JSON or has a duplicate member"))
        }
        guard let members = value.members else {
            throw .invalidRequest(RequestFlaw("The body must be a JSON object"))
        }
        // Raw control characters are not valid JSON, so U+0000 needs an escape.
        let mayHoldNUL = body.span.holds(UInt8(ascii: "\\"))
        guard !mayHoldNUL || !value.holdsNUL else {
            throw .invalidRequest(RequestFlaw("The body contains the character U+0000"))
        }
        return members
    }
}

extension JSONValue {
    /// Whether any string, names of members included, contains U+0000, which Postgres cannot store.
    fileprivate var holdsNUL: Bool {
        switch self {
        case .null, .bool, .number: false
        case .string(let text): text.utf8.contains(0)
        case .array(let elements): elements.contains(where: \.holdsNUL)
        case .object(let members):
            members.contains { $0.key.utf8.contains(0) || $0.value.holdsNUL }
        }
    }
}
