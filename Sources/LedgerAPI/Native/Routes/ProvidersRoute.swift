internal import HTTP
internal import JSON
internal import Ledger
internal import LedgerSignIn

/// `GET /v1/providers`: the providers of the tenant, for pages that offer them.
struct ProvidersRoute: Route {
    static let method = "GET"
    static let path = "/v1/providers"
    static let operation = Operation(
        id: "list_providers", tag: .signIn, summary: "The providers that a tenant offers",
        about: "In the order of their names, for pages with a button for each.",
        access: .anyone, answers: .json(ProvidersAnswer.schema))

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let isReachable = call.services.publicURL != nil
        let providers = call.configuration.providers.values.sorted {
            $0.name.description < $1.name.description
        }
        return .json(
            ProvidersAnswer(
                providers: providers.map { provider in
                    ProvidersAnswer.Provider(
                        name: provider.name.description, displayName: provider.displayName,
                        type: provider.settings.type,
                        hasFlow: isReachable && provider.settings.flow != nil)
                }))
    }
}

private struct ProvidersAnswer: JSONWritable {
    struct Provider {
        let name: String
        let displayName: String
        let type: ProviderType
        let hasFlow: Bool
    }

    let providers: [Provider]

    static let schema = Schema.object(
        "Providers",
        [
            .required(
                "providers",
                .list(
                    .object(
                        "Provider",
                        [
                            .required("name", .provider, "The name in paths and bodies"),
                            .required("display_name", .text("Google"), "The name for people"),
                            .required("type", .choice(ProviderType.allCases.map(\.rawValue))),
                            .required(
                                "has_flow", .flag(true),
                                "Whether a browser flow can be begun with it"),
                        ])))
        ])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("providers")
            writer.array { writer in
                for provider in providers {
                    writer.object { writer in
                        writer.member("name", provider.name)
                        writer.member("display_name", provider.displayName)
                        writer.member("type", provider.type.rawValue)
                        writer.name("has_flow")
                        writer.flag(provider.hasFlow)
                    }
                }
            }
        }
    }
}
