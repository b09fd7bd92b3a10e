import Cryptography
import HTTP
import JSON

/// An answer with its parsed body.
struct Answer {
    let status: Int
    let headers: [(name: String, value: String)]
    let body: String
    let json: JSONMembers

    init(_ response: HTTPResponse) {
        status = response.status
        headers = response.headers
        body = String(decoding: response.body, as: UTF8.self)
        json = JSONValue(parsing: response.body)?.members ?? [:]
    }

    /// The value of the only header with this name.
    subscript(_ name: String) -> String? {
        let values = headers.filter { $0.name == name }.map(\.value)
        return values.count == 1 ? values[0] : nil
    }

    func text(_ name: String) -> String? { json[name]?.string }

    var providers: [String]? { json["linked_providers"]?.array?.compactMap(\.string) }

    var code: String? { json["error"]?.members?["code"]?.string }

    var message: String? { json["error"]?.members?["message"]?.string ?? text("message") }

    /// Returns one of the details of an error.
    func detail(_ name: String) -> JSONValue? {
        json["error"]?.members?["details"]?.members?[name]
    }

    /// Status and code in one line, for tables.
    var summary: String { "\(status) \(code ?? "OK")" }
}
