import Foundation
import LedgerTestSupport
import Testing

/// Two servers on one database, in development mode, which keeps messages.
struct TwoServers: Sendable {
    /// The password of the accounts that are signed up.
    static let password = "correct horse battery staple"

    let deployment: Deployment
    let first: WireClient
    let second: WireClient

    /// Runs a body with two servers whose tenant has further providers and members, and verifies the log after it.
    static func with(
        providers: String = Deployment.addressProviders, members: String = "",
        _ body: (TwoServers) async throws -> Void
    ) async throws {
        let settings = ["LEDGER_MODE": "development", "LEDGER_TRUSTED_PROXIES": "127.0.0.1"]
        try await Deployment.with(settings: settings) { deployment in
            try deployment.configure(providers: providers, members: members)
            let servers = [try await deployment.serve(), try await deployment.serve()]
            try await body(
                TwoServers(
                    deployment: deployment, first: servers[0].client, second: servers[1].client))
            for server in servers { #expect(try await server.stop() == 0) }
            try await expectVerified(deployment)
        }
    }

    /// Sends a request from a client network of its own, since a network gets few codes an hour.
    func post(
        _ path: String, _ body: [String: any Sendable], token: String? = nil, to client: WireClient,
        network: Int
    ) async throws -> WireClient.Answer {
        var headers = [
            "Content-Type": "application/json", "X-Forwarded-For": "10.1.\(network).1",
        ]
        if let token { headers["Authorization"] = "Bearer \(token)" }
        return try await client.send(
            "POST", path, headers: headers, body: JSONSerialization.data(withJSONObject: body))
    }

    /// Requests a code and returns the members that answer it.
    func code(
        _ path: String, _ body: [String: any Sendable], token: String? = nil, to address: String,
        by client: WireClient, network: Int
    ) async throws -> [String: String] {
        // Each process keeps what it has sent, whichever wrote it.
        try await KeptMessages(servers: [first, second]).code(to: address) {
            try await post(path, body, token: token, to: client, network: network)
        }
    }

    func signUp(
        _ address: String, at client: WireClient, network: Int
    ) async throws -> Device {
        let answer = try await code(
            "/v1/auth/sign-up/password", ["email": address, "password": Self.password],
            to: address, by: client, network: network)
        var device = Device(client)
        device.keep(
            try await post("/v1/auth/sign-in/password", answer, to: client, network: network))
        try #require(!device.userID.isEmpty)
        return device
    }

    func signInByCode(
        _ address: String, at client: WireClient, network: Int
    ) async throws -> Device {
        let answer = try await code(
            "/v1/auth/codes/email", ["address": address], to: address, by: client, network: network)
        var device = Device(client)
        device.keep(
            try await post("/v1/auth/sign-in/email", answer, to: client, network: network))
        try #require(!device.userID.isEmpty)
        return device
    }
}
