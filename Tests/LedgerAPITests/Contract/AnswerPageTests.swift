import Cryptography
import Foundation
import JSON
import Ledger
import LedgerTestSupport
import Testing

/// The docs page that lists the members of answers.
@Suite(.overBothTransports) struct AnswerPageTests {
    /// Members that the tables list in one row, whatever they contain.
    private static let whole: Set<String> = [
        "events", "details", "checkpoint", "old_checkpoint", "before", "after", "added_links",
        "removed_links", "opened_sessions", "ended_sessions", "factors", "merges", "holds",
    ]
    private static let mark: Set<String> = ["position", "recorded_at"]

    /// A section of the page.
    private struct Section {
        var members: Set<String> = []
        /// Members that may be absent.
        var optional: Set<String> = []
    }

    @Test func `each table has the members of real answers, and no others`() async throws {
        let sections = try sections()
        let service = try TestService()
        let ada = try await service.signIn("apple", "ada")
        _ = try await service.link("google", subject: "ada-g", by: ada)
        service.audit.proofs.seal(at: service.clock.now)
        service.clock.advance(seconds: 10)
        _ = try await service.signIn("google", "ada-g")
        service.audit.proofs.seal(at: service.clock.now)
        let account = "/v1/accounts/\(ada.userID)"
        let admin = try service.audit.key(.admin)
        let held = try await service.send(
            "POST", account + "/holds", token: admin, headers: [("Ledger-Reason", "case 1")])
        #expect(held.status == 200)
        let asked = [
            "/v1/log/keys": ["/v1/log/keys"],
            "/v1/log/checkpoints": ["/v1/log/checkpoints", "/v1/log/checkpoints?limit=1"],
            "/v1/log/inclusion": ["/v1/log/inclusion?position=1"],
            "/v1/log/consistency": ["/v1/log/consistency?old=4"],
            "/v1/accounts/{id}": [account, account + "?as_of=2"],
            "/v1/accounts/{id}/history": [account + "/history", account + "/history?limit=1"],
            "/v1/accounts/{id}/diff": [account + "/diff?from=2", account + "/diff?from=0&limit=1"],
            "/v1/access-log": ["/v1/access-log"],
        ]
        #expect(Set(asked.keys) == Set(sections.keys))
        for (path, requests) in asked.sorted(by: { $0.key > $1.key }) {
            let section = try #require(sections[path])
            for request in requests {
                let answer = try await service.send("GET", request, token: admin)
                try #require(answer.status == 200, "\(request): \(answer.body)")
                let members = members(of: .object(answer.json), at: "")
                #expect(members.isSubset(of: section.members), "\(request)")
                #expect(
                    section.members.subtracting(section.optional).isSubset(of: members),
                    "\(request)")
            }
        }
    }

    /// Returns the paths of a value's members, such as `links[].provider`.
    private func members(of value: JSONValue, at location: String) -> Set<String> {
        if Self.whole.contains(location) || location.hasSuffix("].details") { return [location] }
        if let members = value.members {
            if Set(members.keys) == Self.mark, !location.isEmpty { return [location] }
            return members.reduce(into: []) { found, member in
                found.formUnion(
                    self.members(
                        of: member.value,
                        at: location.isEmpty ? member.key : "\(location).\(member.key)")
                )
            }
        }
        guard let elements = value.array, elements.contains(where: { $0.members != nil }) else {
            return [location]
        }
        return elements.reduce(into: []) { $0.formUnion(members(of: $1, at: location + "[]")) }
    }

    private func sections() throws -> [String: Section] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(
            contentsOf: root.appendingPathComponent("docs/answers.md"), encoding: .utf8)
        var sections: [String: Section] = [:]
        var path = ""
        for line in page.split(separator: "\n") {
            if let heading = line.wholeMatch(of: /## `GET (.+)`/) {
                path = String(heading.output.1)
                sections[path] = Section()
            } else if let row = line.wholeMatch(of: /\| (`.+`) \| (.+) \|/) {
                let names = row.output.1.matches(of: /`([^`]+)`/).map { String($0.output.1) }
                sections[path]?.members.formUnion(names)
                if row.output.2.hasPrefix("Only ") { sections[path]?.optional.formUnion(names) }
            }
        }
        return sections
    }
}
