internal import HTTP
internal import Ledger

/// `GET /openapi.json`: the description of the routes that apps call, for programs.
struct DocumentRoute: Route {
    static let method = "GET"
    static let path = "/openapi.json"
    static let isTenantScoped = false
    static let operation = Operation(
        id: "get_document", tag: .service, summary: "This document", access: .anyone,
        answers: .json(.anyObject))

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        .json(bytes: APIDocument.ofApps.bytes, headers: [DocumentationPage.caching])
    }
}

/// `GET /v1/audit/openapi.json`: the description of the other routes, for the holder of any API key.
struct StaffDocumentRoute: Route {
    static let method = "GET"
    static let path = "/v1/audit/openapi.json"
    static let operation = Operation(
        id: "get_staff_document", tag: .service, summary: "This document",
        access: .principal(.readers), parameters: [ReasonHeader.parameter],
        answers: .json(.anyObject))

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.readDocument)
        let parameters = try QueryParameters(call)
        try await auditRequest.record(parameters)
        return .json(bytes: APIDocument.ofStaff.bytes)
    }
}

/// `GET /docs`: the description of the routes that apps call, for people.
struct DocumentationRoute: Route {
    static let method = "GET"
    static let path = "/docs"
    static let isTenantScoped = false
    static let operation = Operation(
        id: "get_documentation", tag: .service, summary: "This document as a page",
        access: .anyone, answers: .text("text/html", "<!doctype html>..."),
        headers: DocumentationPage.headers.map(\.name).filter {
            ResponseField(rawValue: $0).map { $0 != .caching } ?? false
        })

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        HTTPResponse(
            status: 200,
            headers: [(name: "Content-Type", value: "text/html; charset=utf-8")]
                + DocumentationPage.headers,
            body: DocumentationPage.ofApps)
    }
}
