package import HTTP

extension API {
    /// The paths that report the state of the process; answered under any load.
    package static let healthPaths = [HealthRoute.path, ReadinessRoute.path]

    /// Every route of the native surface without the tenant prefix, such as `GET /v1/account`.
    package static let routes = native.routes.map { "\($0.method) \($0.path)" }

    private static let native = NativeSurface()

    /// The response to every request while the server is starting.
    package static var starting: HTTPResponse {
        var response = native.response(to: APIError.starting)
        keepOutOfCaches(&response)
        return response
    }

    /// Creates the native surface on top of these services, with or without the routes that
    /// describe it.
    package init(_ services: APIServices, servesDocuments: Bool = true) {
        self.init(services, NativeSurface(servesDocuments: servesDocuments))
    }
}
