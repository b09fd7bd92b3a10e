internal import HTTP
internal import PageAssets

/// `GET /console/` and every path below it: the page for auditors, support and administrators.
///
/// For browsers: like the other routes of pages, it is in no document.
struct ConsolePageRoute: Route {
    static let method = "GET"
    static let path = "/console/"
    static let requiresServedTenant = false
    static let operation = Operation(
        id: "show_console", tag: .log, summary: "The console", access: .anyone, parameters: [],
        answers: [])
    /// The maximum number of segments below the console.
    private static let depthMax = 6
    private static let placeholder = Array("{root}".utf8)

    /// Every path, since a view's address has any depth.
    static let paths: [String] = {
        var paths = [path]
        var below = path
        for depth in 1...depthMax {
            below += "{segment\(depth)}"
            paths.append(below)
            below += "/"
            paths.append(below)
        }
        return paths
    }()

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        guard call.services.staff != nil,
            let asset = PageAssets.all["console/index.html"]
        else { throw .notFound }
        let segments = call.path.split(separator: "/", omittingEmptySubsequences: false)
        // An empty one before the first slash, and two of a tenant.
        let depth = segments.count - 2 - (call.captures["tenant"] == nil ? 0 : 2)
        let root = Array(String(repeating: "../", count: depth).utf8)
        return HTTPResponse(
            status: 200,
            headers: [
                (name: "Content-Type", value: asset.mediaType),
                (name: "Cache-Control", value: "no-cache"),
                (name: "X-Content-Type-Options", value: "nosniff"),
                (name: "Cross-Origin-Resource-Policy", value: "same-origin"),
            ] + PageFiles.policies,
            body: asset.bytes.replacing(Self.placeholder, with: root))
    }
}

/// `GET /console`: leads to the console's own address.
struct ConsoleAddressRoute: Route {
    static let method = "GET"
    static let path = "/console"
    static let requiresServedTenant = false
    static let operation = Operation(
        id: "find_console", tag: .log, summary: "Lead to the console", access: .anyone,
        parameters: [], answers: [])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        guard call.services.staff != nil else { throw .notFound }
        return HTTPResponse(status: 303, headers: [(name: "Location", value: "console/")])
    }
}
