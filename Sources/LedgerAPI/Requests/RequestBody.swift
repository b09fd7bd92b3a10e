internal import Cryptography
internal import HTTP

/// The JSON object that a request carries; members that no route knows are ignored.
///
/// Refused are bodies that are not declared as JSON, two members of one name, lone surrogates,
/// U+0000 in any text, and nesting deeper than `JSONValue.depthMax`.
struct RequestBody {
    /// The longest token that a body may carry, in bytes; the limit of `CompactJWS`.
    static let tokenBytesMax = 16_384
    /// The longest nonce that a body may carry, in bytes.
    static let nonceBytesMax = 1024

    private let members: JSONMembers

    /// Reads the body; an empty one stands for `{}` where the route says so.
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
                RequestFlaw("The body is not valid JSON or names a member twice"))
        }
        guard let members = value.members else {
            throw .invalidRequest(RequestFlaw("The body must be a JSON object"))
        }
        // Raw control characters are not JSON: without an escape there can be none.
        let mayHoldNUL = body.span.holds(UInt8(ascii: "\\"))
        guard !mayHoldNUL || !value.holdsNUL else {
            throw .invalidRequest(RequestFlaw("The body holds the character U+0000"))
        }
        self.members = members
    }

    /// A text that must be there and must not be empty.
    func text(_ name: String, bytesMax: Int) throws(APIError) -> String {
        guard let text = try optionalText(name, bytesMax: bytesMax), !text.isEmpty else {
            throw .invalidRequest(RequestFlaw("\(name) is required", at: .field(name)))
        }
        return text
    }

    /// A text that may be left out; null counts as left out.
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

    /// An object of texts that may be left out; null counts as left out.
    func optionalTexts(_ name: String) throws(APIError) -> [(name: String, text: String)] {
        guard let value = members.present(name) else { return [] }
        guard let members = value.members else {
            throw .invalidRequest(RequestFlaw("\(name) must be an object", at: .field(name)))
        }
        var texts: [(name: String, text: String)] = []
        for key in members.keys {
            guard let text = members[key]?.string else {
                throw .invalidRequest(
                    RequestFlaw("\(name) must hold strings only", at: .field(name)))
            }
            texts.append((name: key, text: text))
        }
        return texts
    }

    /// A truth value that may be left out; null counts as left out.
    func optionalFlag(_ name: String) throws(APIError) -> Bool? {
        guard let value = members.present(name) else { return nil }
        guard case .bool(let flag) = value else {
            throw .invalidRequest(RequestFlaw("\(name) must be true or false", at: .field(name)))
        }
        return flag
    }
}

extension JSONValue {
    /// Whether any text, names of members included, holds what Postgres can't store.
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
