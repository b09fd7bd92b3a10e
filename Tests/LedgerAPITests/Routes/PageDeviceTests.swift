import Ledger
import LedgerTestSupport
import Passwords
import Testing

/// The token of a page's device, which is in a cookie.
@Suite(.overBothTransports) struct PageDeviceTests {
    private static let credential =
        #"{"email":"ada@example.com","password":"correct horse battery staple"}"#

    /// A page in a browser, with its cookies.
    private struct Page {
        let service: TestService
        var cookies: [String: String] = [:]
        var token = ""

        init(_ service: TestService) async throws {
            self.service = service
            let answer = try await service.send("GET", "/account/session")
            keep(answer)
            token = try #require(answer.text("csrf_token"))
        }

        mutating func keep(_ answer: Answer) {
            for (name, value) in answer.headers where name == "Set-Cookie" {
                let pair = value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
                guard pair.count == 2 else { continue }
                cookies[String(pair[0])] = String(pair[1])
                #expect(value.contains("HttpOnly") && value.contains("Secure"))
            }
        }

        mutating func post(_ path: String, _ body: String) async throws -> Answer {
            let cookie = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
            let answer = try await service.send(
                "POST", path, body, headers: [("Cookie", cookie), ("Ledger-CSRF", token)])
            keep(answer)
            return answer
        }
    }

    @Test func `a browser that has signed in is a known device, also after the session`()
        async throws
    {
        let service = try TestService {
            $0.passwords = PasswordRule(lengthMin: 8, blocklist: .empty)
        }
        func device() throws -> SignedIn.Device? {
            guard case .signedIn(let fact)? = service.ledger.events().last else {
                throw ModelLedger.Unexpected(result: .failure(.accountNotFound))
            }
            return fact.device
        }
        var page = try await Page(service)
        let sent = try await page.post("/v1/auth/sign-up/password", Self.credential)
        let challenge = try #require(sent.text("challenge_id"))
        let code = try #require(service.challenges.sent.last).message.code
        let opened = try await page.post(
            "/v1/auth/sign-in/password",
            "{\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\"}")
        #expect(opened.status == 201 && opened.text("device_token") == nil)
        let known = try #require(page.cookies["__Host-ledger-device"])
        var other = try await Page(service)
        #expect(try await other.post("/v1/auth/sign-in/password", Self.credential).status == 201)
        #expect(try device() == .new)
        // Another session of the page, in the same browser.
        var again = try await Page(service)
        again.cookies["__Host-ledger-device"] = known
        #expect(try await again.post("/v1/auth/sign-in/password", Self.credential).status == 201)
        #expect(try device() == nil)
        // For another client than a page, the cookie says nothing.
        let app = try await service.send(
            "POST", "/v1/auth/sign-in/password", Self.credential,
            headers: [("Cookie", "__Host-ledger-device=\(known)")])
        #expect(app.status == 200)
        #expect(try device() == .new)
    }
}
