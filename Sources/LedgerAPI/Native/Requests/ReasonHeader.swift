internal import Ledger

/// The `Ledger-Reason` field: why personal data or a change on another's behalf is requested.
enum ReasonHeader {
    static let name = "Ledger-Reason"

    static let parameter = Parameter(
        name: name, location: .header,
        schema: .text(
            "case 1",
            Schema.TextRules(
                pattern: "^[!-~]([ -~]*[!-~])?$", lengths: 1...AccessReason.charactersMax)),
        about: "The reason of the request, kept in the access log")

    /// Reads the reason; nil when the request has none.
    ///
    /// - Throws: `invalidRequest` unless it is one field that ``AccessReason`` allows.
    static func read(_ call: RouteCall) throws(APIError) -> String? {
        let values = try call.values(of: parameter)
        guard let reason = values.first else { return nil }
        guard values.count == 1, AccessReason.allows(reason) else {
            throw .invalidRequest(
                RequestFlaw("\(name) must be one field of \(AccessReason.form)", at: .header(name)))
        }
        return reason
    }
}
