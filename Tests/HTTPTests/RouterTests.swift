import HTTP
import Testing

struct RouterTests {
    static let router: Router<String> = {
        var router = Router<String>()
        router.add("GET", "/", "root")
        router.add("GET", "/v1/account", "account")
        router.add("POST", "/v1/auth/link/{provider}", "link")
        router.add("DELETE", "/v1/auth/link/{provider}", "unlink")
        router.add("POST", "/v1/auth/link/batch", "batch")
        router.add("GET", "/t/{tenant}/v1/accounts/{account}", "tenant account")
        router.add("GET", "/t/{tenant}/v1/names/{name}", "name", slashesIn: "name")
        return router
    }()

    private func found(_ method: String, _ path: String) -> (String, String, RouteCaptures)? {
        guard
            case .found(let number, let template, let captures) =
                Self.router.match(method: method, path: path)
        else { return nil }
        return (Self.router[number], template, captures)
    }

    private func allowed(_ method: String, _ path: String) -> [String]? {
        guard
            case .methodNotAllowed(let allowed, _, _) =
                Self.router.match(method: method, path: path)
        else { return nil }
        return allowed
    }

    private func isNotFound(_ path: String) -> Bool {
        guard case .notFound = Self.router.match(method: "GET", path: path) else { return false }
        return true
    }

    @Test(
        arguments: [
            ("GET", "/", "root", [:]),
            ("GET", "/v1/account", "account", [:]),
            ("HEAD", "/v1/account", "account", [:]),
            ("POST", "/v1/auth/link/google", "link", ["provider": "google"]),
            ("DELETE", "/v1/auth/link/google", "unlink", ["provider": "google"]),
            ("POST", "/v1/auth/link/a%20b%C3%A9%2525", "link", ["provider": "a bé%25"]),
            // A literal takes precedence, and a capture still serves the other methods.
            ("POST", "/v1/auth/link/batch", "batch", [:]),
            ("DELETE", "/v1/auth/link/batch", "unlink", ["provider": "batch"]),
            ("GET", "/t/a/v1/accounts/b", "tenant account", ["tenant": "a", "account": "b"]),
            ("GET", "/t/a/v1/names/%2Fb%2fc%2F", "name", ["tenant": "a", "name": "/b/c/"]),
        ] as [(String, String, String, RouteCaptures)])
    func `a path finds its handler`(
        method: String, path: String, handler: String, captures: RouteCaptures
    ) throws {
        let match = try #require(found(method, path))
        #expect(match.0 == handler)
        #expect(match.2 == captures)
    }

    @Test func `a match has its template`() {
        #expect(found("POST", "/v1/auth/link/google")?.1 == "/v1/auth/link/{provider}")
    }

    @Test(arguments: [
        "", "v1/account", "*", "//", "/v1", "/v1/account/", "/v1//account", "/V1/account",
        "/v1/auth/link", "/v1/auth/link/a/b", "/v1/%61ccount",
        // Captures that are not plain text
        "/v1/auth/link/", "/v1/auth/link/a%2Fb", "/v1/auth/link/a%2fb", "/v1/auth/link/%",
        "/t/a%2Fb/v1/names/c", "/t/a/v1/names/b/c", "/t/a/v1/names/%00",
        "/v1/auth/link/%4", "/v1/auth/link/%xx", "/v1/auth/link/%FF", "/v1/auth/link/%00",
    ])
    func `a path without a route is not found`(path: String) {
        #expect(isNotFound(path))
    }

    @Test(arguments: [
        ("POST", "/v1/account", ["GET", "HEAD"]),
        ("OPTIONS", "/v1/account", ["GET", "HEAD"]),
        ("OPTIONS", "*", ["DELETE", "GET", "HEAD", "POST"]),
        ("get", "/v1/account", ["GET", "HEAD"]),
        ("GET", "/v1/auth/link/google", ["DELETE", "POST"]),
        ("HEAD", "/v1/auth/link/batch", ["DELETE", "POST"]),
    ])
    func `another method is answered with those allowed`(
        method: String, path: String, methods: [String]
    ) {
        #expect(allowed(method, path) == methods)
    }

    @Test func `a route that is there already stops the program`() async {
        await #expect(processExitsWith: .failure) {
            var router = Router<Int>()
            router.add("GET", "/a", 1)
            router.add("GET", "/a", 2)
        }
    }
}
