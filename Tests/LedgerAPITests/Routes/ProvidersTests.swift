import JSON
import Testing

@Suite(.overBothTransports) struct ProvidersTests {
    @Test func `pages learn the names and types of providers, and nothing else`() async throws {
        let service = try TestService()
        let answer = try await service.send("GET", "/v1/providers")
        #expect(answer.status == 200)
        let providers = (answer.json["providers"]?.array ?? []).compactMap(\.members)
        let names = providers.compactMap { $0["name"]?.string }
        #expect(names.contains("google") && names == names.sorted())
        for provider in providers {
            #expect(
                provider.keys.sorted() == ["display_name", "has_flow", "name", "type"])
        }
        let google = try #require(providers.first { $0["name"]?.string == "google" })
        #expect(google["display_name"] == .string("Google"))
        #expect(google["type"] == .string("oidc"))
    }
}
