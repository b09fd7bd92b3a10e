internal import Cryptography
internal import HTTP
internal import JSON

/// The JSON object in a request's body; unknown members are ignored.
///
/// Refuses bodies that are not declared as JSON, duplicate member names, lone surrogates, U+0000 in
/// any string, and nesting deeper than `JSONValue.depthMax`.
struct RequestBody {
    /// The maximum length of a token in a body, in bytes; the limit of `CompactJWS`.
    static let tokenBytesMax = 16_384
    /// The maximum length of a nonce in a body, in bytes.
    static let nonceBytesMax = 1024

    private let members: JSONMembers

    /// Reads the body; an empty one means `{}` where the route allows it.
    init(_ request: HTTPRequest, mayBeEmpty: Bool = false) throws(APIError) {
        let body = request.body
        guard !body.isEmpty else {
            guard mayBeEmpty else {
                throw .invalidRequest(RequestFlaw("The body must be a JSON object"))
            }
            members = [:]
            return
        }
        let types = request.headers.all("Content-Type")
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
        self.members = members
    }

    /// Returns a required string that is not empty.
    func text(_ name: String, bytesMax: Int) throws(APIError) -> String {
        guard let text = try optionalText(name, bytesMax: bytesMax), !text.isEmpty else {
            throw .invalidRequest(RequestFlaw("\(name) is required", at: .field(name)))
        }
        return text
    }

    /// Returns an optional string; null means absent.
    func optionalText(_ name: String, bytesMax: Int) throws(APIError) -> String? {
        guard let value = members.present(name) else { return nil }
        guard let text = value.string else {
            throw .invalidRequest(RequestFlaw("\(name) must be a string", at: .field(name)))
        }
        guard text.utf8.count <= bytesMax else {
            throw .invalidRequest(
                RequestFlaw("\(name) must have at most \(bytesMax) bytes", at: .field(name)))
        }
        return text
    }

    /// Returns an optional object of strings; null means absent.
    func optionalTexts(_ name: String) throws(APIError) -> [(name: String, text: String)] {
        guard let value = members.present(name) else { return [] }
        guard let members = value.members else {
            throw .invalidRequest(RequestFlaw("\(name) must be an object", at: .field(name)))
        }
        var texts: [(name: String, text: String)] = []
        for key in members.keys {
            guard let text = members[key]?.string else {
                throw .invalidRequest(
                    RequestFlaw("\(name) must contain only strings", at: .field(name)))
            }
            texts.append((name: key, text: text))
        }
        return texts
    }

    /// Returns an optional Boolean; null means absent.
    func optionalFlag(_ name: String) throws(APIError) -> Bool? {
        guard let value = members.present(name) else { return nil }
        guard case .bool(let flag) = value else {
            throw .invalidRequest(RequestFlaw("\(name) must be true or false", at: .field(name)))
        }
        return flag
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
