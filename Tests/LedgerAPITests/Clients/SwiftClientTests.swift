import JSON
import LedgerClient
import Testing

@testable import LedgerAPI

/// Compares the routes and the codes of the Swift client with the documents of the API.
struct SwiftClientTests {
    private func operation(of route: LedgerClient.Route) throws -> DescribedOperation {
        try #require(
            DescribedAPI.apps.operations["\(route.method) \(route.template)"],
            "\(route.method) \(route.template)")
    }

    @Test func `every route is one of the API`() throws {
        #expect(Set(LedgerClient.Route.all).count == LedgerClient.Route.all.count)
        for route in LedgerClient.Route.all { _ = try operation(of: route) }
    }

    @Test func `the error codes are those of the operations that the client calls`() throws {
        var described: Set<String> = []
        for route in LedgerClient.Route.all {
            let operation = try operation(of: route)
            for status in operation.responses.keys.compactMap({ Int($0) }) {
                described.formUnion(operation.codes(status))
            }
        }
        let codes = LedgerError.Code.ofLedger.map(\.rawValue)
        #expect(Set(codes).count == codes.count)
        #expect(Set(codes).subtracting(described).sorted() == [], "surplus")
        #expect(described.subtracting(codes).sorted() == [], "missing")
    }

    @Test func `a request has a key where the operation acts once by it`() throws {
        for route in LedgerClient.Route.all {
            let operation = try operation(of: route)
            let takesKey = operation.parameters.contains {
                $0["name"]?.string == "Idempotency-Key"
            }
            if route.repetition == .withKey { #expect(takesKey, "\(operation.id)") }
        }
    }

    @Test func `a request that changes something without a key is repeated for its own reason`()
        throws
    {
        let changing = LedgerClient.Route.all.filter {
            $0.method != "GET" && $0.repetition == .always
        }
        // A refresh gives the same answer again, a second sign-out does nothing, a second name is the same, and a flow,
        // the challenge of a passkey and a preview store nothing.
        #expect(
            Set(changing) == [
                .beginFlow, .refresh, .signOut, .previewMerge, .nameIdentity, .createPasskey,
                .getPasskey, .createAccountPasskey, .getAccountPasskey, .createPasskeyFactor,
                .secondFactorPasskey,
            ])
    }
}
