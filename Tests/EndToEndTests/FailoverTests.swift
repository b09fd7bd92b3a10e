import LedgerTestSupport
import Postgres
import Testing

/// What becomes of a server whose database is another one all of a sudden.
@Suite struct FailoverTests {
    @Test func `a standby is not read from, and is served from once it is promoted`()
        async throws
    {
        try await PrivateCluster.with { cluster in
            try await Deployment.with(on: cluster) { deployment in
                let server = try await deployment.serve()
                var ada = Device(server.client)
                try await ada.signIn(deployment.apple, as: "ada")
                #expect(try await ada.account().status == 200)
                try await cluster.stop(mode: "fast")
                try cluster.becomeStandby()
                try await cluster.start()
                // What it would say of an account is of some time ago.
                try await eventually("the server to find the standby") {
                    let read = try await ada.account()
                    try #require(read.status == 503)
                    return server.log.contains("the server is a standby") ? true : nil
                }
                #expect(try await server.client.call("GET", "/readyz").status == 503)
                let operate = Session(url: cluster.url, applicationName: "operator")
                try await operate.run { try $0.execute("SELECT pg_promote()") }
                await operate.close()
                try await eventually("everything to be served") {
                    var bob = Device(server.client)
                    let answers = [
                        try await bob.signIn(deployment.apple, as: "bob"), try await ada.account(),
                        try await server.client.call("GET", "/readyz"),
                    ]
                    return answers.allSatisfy { $0.status == 200 } ? true : nil
                }
                let verified = try await deployment.tool.run(["verify"])
                #expect(verified.status == 0, "\(verified.errors)")
            }
        }
    }
}
