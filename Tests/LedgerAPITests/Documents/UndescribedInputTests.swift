import HTTP
import JSON
import Ledger
import Testing

@testable import LedgerAPI

/// A route can read only the inputs that its description has; reading another one is an error, so that
/// no test of such a route passes.
struct UndescribedInputTests {
    private static let query = Parameter(name: "size", schema: .number, about: "A number")
    private static let header = Parameter(
        name: "Probe", location: .header, schema: .number, about: "A number")
    private static let member = OptionalFlag(name: "dry", about: "A flag", example: true)

    private enum Body: BodyForm {
        static let name = "Probe"
        static let members: [any BodyMember] = [member]
    }

    private struct Silent: Route {
        static let method = "POST"
        static let path = "/probe"
        static let operation = Operation(
            id: "probe", tag: .service, summary: "", access: .anyone, answers: .json(.empty))

        func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
            throw .notFound
        }
    }

    private struct Described: Route {
        static let method = "POST"
        static let path = "/probe"
        static let operation = Operation(
            id: "probe", tag: .service, summary: "", access: .anyone, parameters: [query, header],
            body: Body.self, answers: .json(.empty))

        func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
            throw .notFound
        }
    }

    private func call(_ route: any Route.Type) throws -> RouteCall {
        let service = try TestService()
        let request = try #require(
            HTTPRequest(
                method: "POST", target: "/probe?size=1",
                headers: ["Probe": "2", "Content-Type": "application/json"],
                body: Array("{\"dry\":true,\"other\":true}".utf8)))
        return RouteCall(
            services: service.services, surface: NativeSurface(), route: route, request: request,
            name: RequestName(request.headers) { service.services.newID() }, trace: nil,
            tenant: .default, captures: [:], now: service.clock.now, page: nil)
    }

    private func status(_ read: () throws(APIError) -> Void) -> Int? {
        do throws(APIError) {
            try read()
            return nil
        } catch {
            return ErrorAnswer(error).status
        }
    }

    @Test func `described inputs are read`() throws {
        let call = try call(Described.self)
        #expect(try call.values(of: Self.query) == ["1"])
        #expect(try call.values(of: Self.header) == ["2"])
        #expect(try call.body().flag(Self.member) == true)
    }

    @Test func `inputs that are not described are not`() throws {
        let silent = try call(Silent.self)
        #expect(status { () throws(APIError) in _ = try silent.values(of: Self.query) } == 500)
        #expect(status { () throws(APIError) in _ = try silent.values(of: Self.header) } == 500)
        #expect(status { () throws(APIError) in _ = try silent.body() } == 500)
        let other = OptionalFlag(name: "other", about: "A flag", example: true)
        let described = try call(Described.self)
        #expect(
            status { () throws(APIError) in _ = try described.body().flag(other) } == 500)
        // A name in another location is another input.
        let misplaced = Parameter(name: "Probe", schema: .number, about: "A number")
        #expect(
            status { () throws(APIError) in _ = try described.values(of: misplaced) } == 500)
    }
}
