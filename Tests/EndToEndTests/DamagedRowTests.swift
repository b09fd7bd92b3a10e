import Foundation
import LedgerTestSupport
import Postgres
import Testing

/// The effects of rows that no server has written on clients and auditors.
@Suite struct DamagedRowTests {
    @Test func `only commands that use such a row are answered 500`()
        async throws
    {
        try await Self.with { deployment, server in
            var ada = Device(server.client)
            try await ada.signIn(deployment.google, as: "ada")
            let answers = try await Self.inOneBatch(
                [.init("carl"), .init("thief"), .init("dora"), .init("emil", "/t/acme")],
                behind: """
                    INSERT INTO identities (tenant_id, provider, provider_id, identity_id, account_id,
                        last_account_id, linked_at, linked_position, mac)
                    SELECT tenant_id, provider, 'thief', gen_random_uuid(), account_id,
                        last_account_id, linked_at, linked_position, mac
                    FROM identities WHERE provider_id = 'ada'
                    """, deployment, server)
            #expect(answers == ["200", "500 INTERNAL", "200", "200"])
            try await eventually("an alarm") { server.log.contains("identities.mac") ? true : nil }
            #expect(!server.log.contains("thief"), "that names no subject")
            let refused = try await ada.link(deployment.apple, as: "ada")
            #expect(refused.status == 500 && refused.errorCode == "INTERNAL")
        }
    }

    @Test func `a manipulated head stops its tenant, and no other in the same batch`()
        async throws
    {
        try await Self.with { deployment, server in
            let answers = try await Self.inOneBatch(
                [.init("carl"), .init("emil", "/t/acme"), .init("dora")],
                behind: """
                    UPDATE ledger_head SET next_position = next_position + 1
                    WHERE tenant_id = 'default'
                    """, deployment, server)
            #expect(answers == ["500 INTERNAL", "200", "500 INTERNAL"])
            try await eventually("an alarm") {
                server.log.contains("ledger_head.mac of tenant default") ? true : nil
            }
            try await deployment.asSuperuser(
                """
                UPDATE ledger_head SET next_position = next_position - 1
                WHERE tenant_id = 'default'
                """)
            var carl = Device(server.client)
            #expect(try await carl.signIn(deployment.google, as: "carl").status == 200)
        }
    }

    @Test func `an event that no server has appended is never returned`() async throws {
        try await Self.with { deployment, server in
            var ada = Device(server.client)
            try await ada.signIn(deployment.google, as: "ada")
            let auditor = CaseWorker(server.client, key: try await deployment.apiKey("auditor"))
            try await deployment.asSuperuser(
                """
                INSERT INTO events (tenant_id, position, event_id, type, schema_version, recorded_at,
                    account_id, account_seq, command_id, request_id, actor, entry, mac)
                SELECT tenant_id, 5, event_id, type, schema_version, recorded_at, account_id,
                    account_seq, command_id, request_id, actor,
                    convert_to(replace(convert_from(entry, 'UTF8'),
                        '"position":"4"', '"position":"5"'), 'UTF8'), mac
                FROM events WHERE tenant_id = 'default' AND position = 4
                """)
            try await deployment.asSuperuser(
                "UPDATE ledger_head SET next_position = 6 WHERE tenant_id = 'default'")
            let page = try await auditor.get("/v1/events")
            #expect(page.status == 200)
            #expect((page.json["events"] as? [any Sendable])?.count == 5, "those before it")
            let behind = try await auditor.get("/v1/events?after=4")
            #expect(behind.status == 500 && behind.errorCode == "LOG_DAMAGED")
            let history = try await auditor.get("/v1/accounts/\(ada.userID)/history")
            #expect(history.status == 500 && history.errorCode == "LOG_DAMAGED")
            try await eventually("an alarm") {
                server.log.contains("position 5: the event was not appended by a server")
                    ? true : nil
            }
        }
    }

    // MARK: Support

    /// A person who signs in with Google, and the server.
    private struct Person: Sendable {
        let subject: String
        let tenant: String

        init(_ subject: String, _ tenant: String = "") {
            self.subject = subject
            self.tenant = tenant
        }
    }

    /// A server of two tenants.
    private static func with(
        _ body: (Deployment, ServerProcess) async throws -> Void
    ) async throws {
        try await Deployment.with { deployment in
            let file = Deployment.providersFile(google: deployment.google, apple: deployment.apple)
            let path = try deployment.write(
                "{\"tenants\":{\"default\":\(file),\"acme\":\(file)}}", to: "two.json")
            _ = try await deployment.tool.run(["tenant", "create", "acme"])
            try await body(
                deployment, try await deployment.serve(settings: ["LEDGER_PROVIDERS": path]))
        }
    }

    /// Signs people in whose commands wait for the heads together, behind a transaction.
    ///
    /// The wait for a head is limited: if the first command gave up before all others had arrived, everything
    /// is repeated.
    private static func inOneBatch(
        _ people: [Person], behind change: String, _ deployment: Deployment,
        _ server: ServerProcess
    ) async throws -> [String] {
        try await eventually("all of them to wait together") {
            try await tryInOneBatch(people, behind: change, deployment, server)
        }
    }

    private static func tryInOneBatch(
        _ people: [Person], behind change: String, _ deployment: Deployment,
        _ server: ServerProcess
    ) async throws -> [String]? {
        let (letGo, areTogether) = (DispatchSemaphore(value: 0), EndOfTraffic())
        let holder = Session(url: deployment.superuserURL, applicationName: "holder")
        async let held: Void = holder.run { connection in
            try connection.execute("BEGIN; SELECT FROM ledger_head FOR UPDATE; \(change)")
            letGo.wait()
            try connection.execute(areTogether.isHere ? "COMMIT" : "ROLLBACK")
        }
        // Declared after it, so that it is released before it is awaited.
        defer { letGo.signal() }
        try await eventually("the heads to be locked") {
            try await deployment.asSuperuser(
                """
                SELECT application_name FROM pg_stat_activity WHERE datname = current_database()
                    AND application_name = 'holder' AND state = 'idle in transaction'
                """
            ) == ["holder"] ? true : nil
        }
        async let first = signIn(Person("bob", "/t/acme"), deployment, server)
        try await eventually("a batch to wait") { try await isWaiting(deployment) ? true : nil }
        async let answers = withThrowingTaskGroup(of: (Int, String).self) { group in
            for (index, person) in people.enumerated() {
                group.addTask { (index, try await signIn(person, deployment, server)) }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        let areAllThere = try await eventually("all others to wait behind it, or it no more") {
            let metrics = try await server.admin.call("GET", "/metrics")
            let areWaiting = String(decoding: metrics.body, as: UTF8.self)
                .contains("ledger_queue_depth \(people.count)\n")
            if areWaiting { return true }
            return try await isWaiting(deployment) ? nil : false
        }
        if areAllThere { areTogether.tell() }
        letGo.signal()
        try await held
        await holder.close()
        _ = try await first
        let all = try await answers.sorted { $0.key < $1.key }.map(\.value)
        return areAllThere ? all : nil
    }

    /// Checks whether a batch waits for a head.
    private static func isWaiting(_ deployment: Deployment) async throws -> Bool {
        try await !deployment.asSuperuser(
            """
            SELECT wait_event_type FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'
            """
        ).isEmpty
    }

    private static func signIn(
        _ person: Person, _ deployment: Deployment, _ server: ServerProcess
    ) async throws -> String {
        let answer = try await server.client.call(
            "POST", "\(person.tenant)/v1/auth/sign-in/google",
            ["id_token": deployment.google.token(subject: person.subject)])
        return (["\(answer.status)"] + [answer.errorCode].compactMap(\.self))
            .joined(separator: " ")
    }
}
