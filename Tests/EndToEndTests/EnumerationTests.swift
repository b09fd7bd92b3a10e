import Foundation
import LedgerTestSupport
import Testing

/// Requests about addresses with and without an account, whose answers must not differ: neither in status, header
/// fields and form of the body, nor in the distribution of their times over 500 tries.
@Suite(.timeLimit(.minutes(15))) struct EnumerationTests {
    /// Half of the tries of each request.
    private static let addressCount = 250
    /// The largest difference of the two distributions: that of equal ones exceeds it once in 15,000 tests.
    private static let deviationMax = 4.0
    /// Twice as slow as the ledger's own hashes.
    private static let bcrypt = "$2a$10$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"
    private static let md5Crypt = "$1$abc$Kb85XxsXB.VXinPhbS4431"

    private enum Addresses {
        case email
        case phone
    }

    /// A request of a stranger about an address.
    private struct Probe: Sendable, CustomTestStringConvertible {
        let path: String
        let status: Int
        /// The tries at a time: those that wait for the floor of wrong passwords take half a second each.
        let concurrency: Int
        var addresses = Addresses.email
        /// Whether the request is sent with the account of a stranger.
        var isSignedIn = false
        let body: @Sendable (String) -> [String: String]

        var testDescription: String { path }
    }

    private static let probes = [
        Probe(path: "/v1/auth/sign-in/password", status: 401, concurrency: 4) {
            ["email": $0, "password": "not the right password"]
        },
        Probe(path: "/v1/auth/password-resets/password", status: 200, concurrency: 1) {
            ["email": $0]
        },
        Probe(path: "/v1/auth/sign-up/password", status: 200, concurrency: 1) {
            ["email": $0, "password": "the password of a stranger"]
        },
        Probe(path: "/v1/auth/codes/email", status: 200, concurrency: 1) { ["address": $0] },
        Probe(path: "/v1/auth/codes/password", status: 200, concurrency: 1) { ["address": $0] },
        Probe(path: "/v1/auth/address-returns/email", status: 200, concurrency: 1) {
            ["address": $0]
        },
        Probe(path: "/v1/auth/codes/phone", status: 200, concurrency: 1, addresses: .phone) {
            ["address": $0]
        },
        Probe(path: "/v1/account/codes/email", status: 200, concurrency: 1, isSignedIn: true) {
            ["address": $0]
        },
        Probe(
            path: "/v1/account/codes/phone", status: 200, concurrency: 1, addresses: .phone,
            isSignedIn: true
        ) { ["address": $0] },
    ]

    /// The answer to a try.
    private struct Try: Sendable {
        let isKnown: Bool
        let form: String
        let seconds: Double
    }

    /// Runs a body with a server that trusts the client's address in `X-Forwarded-For`, and half of whose addresses
    /// have imported accounts: those of e-mail with passwords of two schemes.
    private func with(
        _ body: (Deployment, ServerProcess) async throws -> Void
    ) async throws {
        let settings = [
            "LEDGER_MODE": "development", "LEDGER_TRUSTED_PROXIES": "127.0.0.1",
        ]
        try await Deployment.with(settings: settings) { deployment in
            try deployment.configure(
                providers: Deployment.addressProviders + #",{"name":"phone","type":"phone"}"#,
                members: #""messages":{"product":"Example","sms_countries":["DE"],"#
                    + #""sms_per_hour":10000},"#)
            let server = try await deployment.serve()
            let passwords = (0..<Self.addressCount).map { number in
                let hash = number.isMultiple(of: 2) ? Self.bcrypt : Self.md5Crypt
                let address = Self.address(number, isKnown: true)
                return #"{"email":"\#(address)","email_verified":true,"hash":"\#(hash)"}"#
            }
            try await load(passwords, as: "passwords", into: deployment)
            let numbers = (0..<Self.addressCount).map { number in
                let phone = Self.address(number, isKnown: true, .phone)
                let identity = #"{"user_id":"\#(number)","provider":"sms"}"#
                return #"{"user_id":"sms|\#(number)","phone_number":"\#(phone)","#
                    + #""phone_verified":true,"identities":[\#(identity)]}"#
            }
            try await load(numbers, as: "auth0", into: deployment)
            try await body(deployment, server)
            #expect(try await server.stop() == 0)
        }
    }

    private func load(
        _ lines: [String], as format: String, into deployment: Deployment
    ) async throws {
        let path = try deployment.write(
            lines.joined(separator: "\n"), to: "\(format).jsonl")
        let imported = try await deployment.tool.run([
            "import", format, path, "--reason", "the move",
        ])
        #expect(imported.status == 0, "\(imported)")
    }

    /// Returns an address; those with and without an account have the same length.
    private static func address(
        _ number: Int, isKnown: Bool, _ addresses: Addresses = .email
    ) -> String {
        switch addresses {
        case .email: "\(isKnown ? "a" : "z")-person-\(1_000 + number)@example.com"
        // No two of the same 10,000 numbers, which get 50 unanswered codes an hour.
        case .phone: "+49151\(isKnown ? 2 : 3)\(345 + number)1000"
        }
    }

    private func attempt(
        _ probe: Probe, _ number: Int, isKnown: Bool, of server: ServerProcess, network: Int,
        tokens: [String]
    ) async throws -> Try {
        var headers = [
            "Content-Type": "application/json",
            "X-Forwarded-For": "10.\(network).\(number).\(isKnown ? 1 : 2)",
        ]
        if probe.isSignedIn {
            headers["Authorization"] = "Bearer \(tokens[number])"
        }
        let address = Self.address(number, isKnown: isKnown, probe.addresses)
        let begin = ContinuousClock.now
        let answer = try await server.client.send(
            "POST", probe.path, headers: headers,
            body: JSONSerialization.data(withJSONObject: probe.body(address)))
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        #expect(answer.status == probe.status, "\(probe.path): \(answer)")
        let fields = answer.headers.keys.map { $0.lowercased() }.sorted()
        let members = answer.json.keys.sorted()
        return Try(
            isKnown: isKnown,
            form:
                "\(fields) \(answer.header("Content-Length") ?? "") \(members) \(answer.body.count)",
            seconds: seconds)
    }

    /// Sends all tries in random order.
    private func tries(
        _ probe: Probe, of server: ServerProcess, network: Int, tokens: [String]
    ) async throws -> [Try] {
        var left = (0..<Self.addressCount).flatMap { [($0, true), ($0, false)] }.shuffled()
        return try await withThrowingTaskGroup(of: Try.self) { group in
            func next() {
                guard let (number, isKnown) = left.popLast() else { return }
                group.addTask {
                    try await attempt(
                        probe, number, isKnown: isKnown, of: server, network: network,
                        tokens: tokens)
                }
            }
            for _ in 0..<probe.concurrency { next() }
            var tries: [Try] = []
            while let done = try await group.next() {
                tries.append(done)
                next()
            }
            return tries
        }
    }

    /// Returns the deviation of the rank sum of Mann and Whitney from that of equal distributions, in standard
    /// deviations.
    private func deviation(of tries: [Try]) -> Double {
        let ranked = tries.sorted { $0.seconds < $1.seconds }
        let known = Double(tries.count(where: \.isKnown))
        let unknown = Double(tries.count) - known
        let rankSum = ranked.enumerated().reduce(0.0) {
            $0 + ($1.element.isKnown ? Double($1.offset + 1) : 0)
        }
        let mean = known * (known + unknown + 1) / 2
        return (rankSum - mean) / (known * unknown * (known + unknown + 1) / 12).squareRoot()
    }

    @Test func `addresses with and without an account have the same answers, and times`()
        async throws
    {
        try await with { deployment, server in
            // Several strangers, since an account requests codes for at most ten addresses an hour.
            var tokens: [String] = []
            for number in 0..<Self.addressCount {
                var stranger = Device(server.client)
                let signIn = try await stranger.signIn(deployment.google, as: "stranger-\(number)")
                #expect(signIn.status == 200)
                tokens.append(stranger.accessToken)
            }
            for (network, probe) in Self.probes.enumerated() {
                let tries = try await tries(
                    probe, of: server, network: network + 1, tokens: tokens)
                #expect(tries.count == 2 * Self.addressCount)
                #expect(Set(tries.map(\.form)).count == 1, "\(probe.path)")
                let deviation = deviation(of: tries)
                #expect(abs(deviation) < Self.deviationMax, "\(probe.path): \(deviation)")
            }
        }
    }
}
