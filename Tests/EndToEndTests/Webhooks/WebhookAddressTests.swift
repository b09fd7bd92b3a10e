import Foundation
import LedgerTestSupport
import Testing

/// The allowed addresses of webhooks, and their display.
@Suite struct WebhookAddressTests {
    private static let hidden = [
        "https://user:secret@example.org/", "https://user@example.org/",
        "https://example.org/#secret", "https://:secret@example.org/",
    ]
    private static let inside = [
        "http://127.0.0.1:9/", "http://localhost:9/", "http://[::1]:9/", "https://localhost/",
        "https://ledger.localhost/", "https://127.1/", "https://2130706433/",
        "https://169.254.169.254/latest", "https://10.1.2.3/", "https://172.31.0.1/",
        "https://192.168.0.1/", "https://100.64.0.1/", "https://0.0.0.0/", "https://[fd00::1]/",
        "https://[fe80::1]/", "https://[::]/", "https://[::ffff:10.0.0.1]/",
        "https://[64:ff9b::a00:1]/", "https://224.0.0.1/", "https://255.255.255.255/",
    ]
    private static let outside = [
        "https://example.org/", "https://8.8.8.8/", "https://172.32.0.1/", "https://11.0.0.1/",
        "https://[2606:4700::1111]/", "https://localhost.example.org/",
    ]

    @Test func `an address has no user info and no fragment, and is of the public network`()
        async throws
    {
        try await Deployment.with { deployment in
            _ = try await deployment.serve()
            let tool = deployment.tool
            for url in Self.hidden + Self.inside {
                let refused = try await tool.run(["webhooks", "add", url])
                #expect(refused.status == 64, "\(url)")
                let isInside = Self.inside.contains(url)
                #expect(refused.errors.contains("--allow-private") == isInside, "\(url)")
                #expect(!refused.errors.contains("secret"), "\(refused.errors)")
            }
            for url in Self.hidden {
                let refused = try await tool.run(["webhooks", "add", url, "--allow-private"])
                #expect(refused.status == 64, "\(url)")
            }
            #expect(try await tool.run(["webhooks", "list"]).output.isEmpty)
            for url in Self.outside {
                let added = try await tool.run(["webhooks", "add", url])
                #expect(added.status == 0, "\(url): \(added.errors)")
            }
            let meant = try await tool.run(
                ["webhooks", "add", "https://10.1.2.3/", "--allow-private"])
            #expect(meant.status == 0, "\(meant.errors)")
            let list = try await tool.run(["webhooks", "list"])
            #expect(list.output.split(separator: "\n").count == Self.outside.count + 1)
        }
    }

    @Test func `in development mode, a URL on this machine is allowed`() async throws {
        let settings = ["LEDGER_MODE": "development", "LEDGER_PROVIDERS": ""]
        try await Deployment.with(settings: settings) { deployment in
            _ = try await deployment.serve()
            let added = try await deployment.tool.run(["webhooks", "add", "http://127.0.0.1:9/"])
            #expect(added.status == 0, "\(added.errors)")
        }
    }

    @Test func `the user and the fragment of an older address are not shown`() async throws {
        try await Deployment.with { deployment in
            _ = try await deployment.serve()
            let tool = deployment.tool
            #expect(try await tool.run(["webhooks", "add", "https://example.org/"]).status == 0)
            try await deployment.asSuperuser(
                """
                UPDATE webhook_endpoints SET url = 'https://user:secret@example.org/a?b=c#secret'
                RETURNING 'done'
                """)
            let list = try await tool.run(["webhooks", "list"])
            #expect(list.output.hasSuffix("\thttps://example.org/a?b=c\n"), "\(list.output)")
        }
    }
}
