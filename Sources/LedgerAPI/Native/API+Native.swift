package import HTTP

extension API {
    /// The paths that report the state of the process; answered under any load.
    package static let healthPaths = [HealthRoute.path, ReadinessRoute.path]

    /// Every route of the native surface without the tenant prefix, such as `GET /v1/account`.
    package static let routes = RouteTable.routes.map { "\($0.method) \($0.path)" }

    /// The response to every request while the server is starting.
    package static var starting: HTTPResponse {
        var response = ErrorAnswer(APIError.starting).response
        keepOutOfCaches(&response)
        return response
    }

    /// Creates the native surface on top of these services, with or without the routes that
    /// describe it.
    package init(_ services: APIServices, servesDocuments: Bool = true) {
        self.init(services, NativeSurface(servesDocuments: servesDocuments))
    }
}
