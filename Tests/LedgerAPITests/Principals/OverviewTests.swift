import JSON
import Ledger
import LedgerAPI
import LedgerTestSupport
import Testing

/// The overview, the legal holds and the holders of identities, as staff request them.
@Suite(.overBothTransports) struct OverviewTests {
    private func get(
        _ service: TestService, _ path: String, as role: Role = .auditor
    ) async throws -> Answer {
        try await service.send("GET", path, token: try service.audit.key(role))
    }

    @Test(arguments: Role.allCases)
    func `the overview counts events by day`(role: Role) async throws {
        let service = try TestService()
        _ = try await service.signIn("apple", "ada")
        service.clock.advance(seconds: 86_400)
        let ada = try await service.signIn("apple", "ada")
        let bob = try await service.signIn("google", "bob")
        _ = try await service.link("google", subject: "bob", by: ada)
        _ = try await service.unlink("google", by: bob)
        let answer = try await get(service, "/v1/overview?days=3", as: role)
        #expect(answer.summary == "200 OK", "\(answer.body)")
        let days = answer.json["days"]?.array?.compactMap(\.members) ?? []
        let today = String(service.clock.now.description.prefix(10))
        #expect(days.count == 3 && days.last?["day"]?.string == today)
        func figures(_ day: Int) -> [String] {
            [
                "events", "accounts", "sign_ins", "links", "unlinks", "merges", "erasures",
                "conflicts", "refusals",
            ].map { days[day][$0]?.string ?? "?" }
        }
        #expect(figures(0) == ["0", "0", "0", "0", "0", "0", "0", "0", "0"])
        #expect(figures(1) == ["3", "1", "1", "1", "0", "0", "0", "0", "0"])
        #expect(figures(2) == ["6", "1", "2", "1", "0", "0", "0", "1", "2"])
        #expect(answer.text("counted") == "9" && answer.text("log_size") == "9")
        #expect(answer.json["checkpoint"] == .null)
        #expect(answer.json["conflicts"]?.members?["open"]?.string == "1")
        service.audit.proofs.seal(at: service.clock.now)
        let sealed = try await get(service, "/v1/overview", as: role)
        #expect(sealed.json["checkpoint"]?.members?["size"]?.string == "9")
        #expect(sealed.json["days"]?.array?.count == 30)
        #expect(service.audit.access.accesses().last?.action == "overview.read")
    }

    @Test(arguments: ["days=0", "days=91", "days=x", "days=", "from=1"])
    func `an invalid number of days is refused`(query: String) async throws {
        let service = try TestService()
        let answer = try await get(service, "/v1/overview?\(query)")
        #expect(answer.summary == "400 INVALID_REQUEST", "\(answer.body)")
    }

    @Test func `the legal holds in force are listed by account`() async throws {
        let service = try TestService()
        var people: [Person] = []
        for name in ["ada", "bob", "cleo"] {
            people.append(try await service.signIn("apple", name))
        }
        let admin = try service.audit.key(.admin)
        var holds: [String] = []
        for person in people + [people[0]] {
            let answer = try await service.send(
                "POST", "/v1/accounts/\(person.userID)/holds", token: admin,
                headers: [("Ledger-Reason", "court order 9")])
            holds.append(try #require(answer.text("hold")))
        }
        let lifted = try await service.send(
            "DELETE", "/v1/accounts/\(people[1].userID)/holds/\(holds[1])", token: admin,
            headers: [("Ledger-Reason", "settled")])
        #expect(lifted.status == 200)
        var seen: Set<String> = []
        var query = "?limit=1"
        while true {
            let page = try await get(service, "/v1/holds\(query)", as: .support)
            #expect(page.summary == "200 OK", "\(page.body)")
            for hold in page.json["holds"]?.array?.compactMap(\.members) ?? [] {
                seen.insert(
                    "\(hold["account"]?.string ?? "") \(hold["hold"]?.string ?? "")")
                #expect(hold["made_at"]?.string != nil)
            }
            guard page.json["more"] == .bool(true) else { break }
            query = "?limit=1&after=\(try #require(page.text("next")))"
        }
        #expect(
            seen == [
                "\(people[0].userID) \(holds[0])", "\(people[0].userID) \(holds[3])",
                "\(people[2].userID) \(holds[2])",
            ])
        #expect(try await get(service, "/v1/holds").summary == "403 FORBIDDEN")
        #expect(
            try await get(service, "/v1/holds?after=x", as: .admin).summary
                == "400 INVALID_REQUEST")
    }

    @Test(arguments: Role.allCases)
    func `the holders of an identity are listed with their events`(role: Role) async throws {
        let service = try TestService()
        let ada = try await service.signIn("apple", "ada")
        _ = try await service.link("google", subject: "shared", by: ada)
        let linked = try #require(service.ledger.recordings().last?.recorded)
        _ = try await service.unlink("google", by: ada)
        let unlinked = try #require(service.ledger.recordings().last?.recorded)
        let bob = try await service.signIn("google", "shared")
        let identity = try #require(linked.event.fact.attributes.identity)
        let path = "/v1/identities/\(identity)/owners"
        let answer = try await get(service, path, as: role)
        #expect(answer.summary == "200 OK", "\(answer.body)")
        let owners = answer.json["owners"]?.array?.compactMap(\.members) ?? []
        #expect(owners.map { $0["account"]?.string } == [ada.userID, bob.userID])
        #expect(owners[0]["from"]?.members?["event_id"]?.string == "\(linked.id)")
        #expect(owners[0]["until"]?.members?["event_id"]?.string == "\(unlinked.id)")
        #expect(owners[0]["until"]?.members?["type"]?.string == "ProviderUnlinked")
        #expect(owners[1]["until"] == nil)
        #expect(answer.json["complete"] == .bool(true))
        #expect(!answer.body.contains("shared"))
        let line = try #require(service.audit.access.accesses().last)
        #expect(line.action == "identity.owners" && line.details.contains("\(identity)"))
        for unknown in ["x", IdentityID(bits: 7).description] {
            let answer = try await get(service, "/v1/identities/\(unknown)/owners", as: role)
            #expect(answer.summary == "404 ACCOUNT_NOT_FOUND")
        }
    }
}
