import Foundation
import LedgerTestSupport
import Testing

/// Browser flows whose requests are answered by other processes than the ones before, because those were killed.
@Suite(.timeLimit(.minutes(5))) struct BrowserFlowCrashTests {
    /// The flows are cut at every request of the browser: before the first one, on the way to the provider, at its
    /// page, with the form that Apple's page sends, with the provider's answer, and with the code for the client.
    private static let people = [
        Person("google", requests: 0), Person("facebook", requests: 1),
        Person("x", requests: 2, isLinking: true), Person("apple", requests: 3),
        Person("github", requests: 3), Person("apple", requests: 4),
        Person("linkedin", requests: 4),
    ]

    @Test func `a flow goes on wherever the server is killed, and its code counts once`()
        async throws
    {
        let settings = [
            "LEDGER_MODE": "development", "LEDGER_PROVIDERS": "",
            // Each process has a port of its own.
            "LEDGER_PUBLIC_URL": "https://localhost",
        ]
        try await Deployment.with(settings: settings) { deployment in
            let last = try await deployment.interrupt(Self.people)
            try await deployment.expectEnd(of: last, accounts: Self.people.count)
        }
    }
}

/// A person in the middle of a flow.
private struct Person: InterruptedPerson {
    private static let returnTo = "http://127.0.0.1:3000/callback"

    /// The next step of the browser.
    private enum Next {
        case address(String)
        case form(WireClient.Answer)
        /// The browser is back at the client.
        case code(String)
    }

    let provider: String
    /// The requests of the browser before the first process is killed.
    let requests: Int
    /// Whether the flow links an identity to an account that the person has.
    let isLinking: Bool
    private var token: String?
    private var userID = ""
    private var browser: FlowBrowser?
    private var next: Next?
    private var answered = Data()

    init(_ provider: String, requests: Int, isLinking: Bool = false) {
        self.provider = provider
        self.requests = requests
        self.isLinking = isLinking
    }

    private var name: String { "\(provider)-\(requests)" }

    mutating func begin(at client: WireClient) async throws {
        if isLinking {
            let made = try await client.call("GET", "/dev/idp/google/token?name=\(name)")
            keep(
                try await client.call(
                    "POST", "/v1/auth/sign-in/google",
                    ["id_token": try #require(made.text("id_token"))]))
        }
        let begun = try await client.call(
            "POST", "/v1/auth/flows",
            [
                "provider": provider, "purpose": isLinking ? "link" : "sign_in",
                "return_to": Self.returnTo, "code_challenge": FlowTests.challenge,
            ], token: token)
        next = .address(try #require(begun.text("authorize_url"), "\(begun)"))
        browser = FlowBrowser(client: client)
        for _ in 0..<requests { try await step(at: client) }
    }

    mutating func goOn(at client: WireClient) async throws {
        while code == nil { try await step(at: client) }
    }

    /// The code for the client; nil before the browser is back.
    private var code: String? {
        if case .code(let code) = next { code } else { nil }
    }

    /// Sends the next request of the browser.
    private mutating func step(at client: WireClient) async throws {
        var browser = try #require(self.browser)
        browser.client = client
        let answer: WireClient.Answer
        switch next {
        case .address(let address): answer = try await browser.send("GET", address)
        case .form(let page):
            let action = try FlowBrowser.action(of: page)
            let isOfProvider = action == "authorize"
            var fields = FlowBrowser.fields(of: page)
            if isOfProvider { fields["name"] = name }
            answer = try await browser.send(
                "POST", isOfProvider ? "/dev/idp/\(provider)/authorize" : action, fields)
        case .code, nil: return
        }
        self.browser = browser
        guard answer.status != 200 else {
            next = .form(answer)
            return
        }
        let address = try #require(answer.header("Location"), "\(name): \(answer)")
        let result = Self.returnTo + "?flow_code="
        next =
            address.hasPrefix(result)
            ? .code(String(address.dropFirst(result.count))) : .address(address)
    }

    func prove(at client: WireClient) async throws -> WireClient.Answer {
        try await client.call(
            "POST", "/v1/auth/\(isLinking ? "link" : "sign-in")/\(provider)",
            ["flow_code": try #require(code), "code_verifier": FlowTests.verifier],
            token: isLinking ? token : nil, key: isLinking ? "the-same-key" : nil)
    }

    mutating func keep(_ answer: WireClient.Answer) {
        answered = answer.body
        if let account = answer.text("user_id") {
            (userID, token) = (account, answer.text("access_token"))
        }
    }

    func check(at client: WireClient) async throws {
        let repeated = try await prove(at: client)
        if isLinking {
            #expect(repeated.status == 200 && repeated.body == answered, "\(name): \(repeated)")
        } else {
            #expect(repeated.status == 401, "\(name): \(repeated)")
            #expect(repeated.errorCode == "INVALID_PROVIDER_TOKEN", "\(name)")
        }
        let account = try await client.call("GET", "/v1/account", token: token)
        #expect(account.status == 200 && account.text("user_id") == userID, "\(name): \(account)")
        // Without the answer the person begins again, and finds the same account.
        var again = Person(provider, requests: requests)
        try await again.begin(at: client)
        try await again.goOn(at: client)
        let opened = try await again.prove(at: client)
        #expect(opened.status == 200 && opened.text("user_id") == userID, "\(name): \(opened)")
        #expect(opened.json["is_new_user"] as? Bool == false, "\(name)")
    }
}
