import Foundation
import LedgerClient

/// A command-line app: an account on a terminal, and the acceptance stories against `tools/run`.
@main struct Program {
    private static let help = """
        ledger-example [--url URL] [--store FILE] COMMAND

            stories           the five stories, against a ledger in development mode
            tutorial          the steps of the tutorial, against the same
            sign-in PROVIDER  signs in with a browser
            link PROVIDER     links an identity with a browser
            unlink PROVIDER   removes an identity
            show              shows the account
            token             prints a valid access token
            sign-out          ends the session

        URL is http://127.0.0.1:8080 and FILE ~/.ledger-example by default.
        """

    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            let error = error as? LedgerError
            let sentence = error?.sentence(in: .english) ?? help
            let code = error.map { " [\($0.code.rawValue), request \($0.requestID ?? "-")]" } ?? ""
            FileHandle.standardError.write(Data("\(sentence)\(code)\n".utf8))
            exit(1)
        }
    }

    /// A usage error.
    private struct Misused: Error {}

    private static func run(_ arguments: [String]) async throws {
        var words: [String] = []
        var options: [String: String] = [:]
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if word.hasPrefix("--") {
                options[word] = rest.popFirst()
            } else {
                words.append(word)
            }
        }
        guard let url = URL(string: options["--url"] ?? "http://127.0.0.1:8080"),
            let command = words.first
        else { throw Misused() }
        let address = try LedgerAddress(url)
        let home = FileManager.default.homeDirectoryForCurrentUser.path
        let file = URL(fileURLWithPath: options["--store"] ?? "\(home)/.ledger-example")
        let session = await AuthSession(address, store: FileTokenStore(file))
        try await session.start()
        switch (command, words.dropFirst().first) {
        case ("stories", nil): try await Stories(address, tokens: DevelopmentTokens(url)).tell()
        case ("tutorial", nil):
            try await Tutorial.run(url, file: file, tokens: DevelopmentTokens(url))
        case ("sign-in", let provider?): try await AccountCommands(session).signIn(provider)
        case ("link", let provider?): try await AccountCommands(session).link(provider)
        case ("unlink", let provider?): try await AccountCommands(session).unlink(provider)
        case ("show", nil): try await AccountCommands(session).show()
        case ("token", nil): print(try await session.accessToken())
        case ("sign-out", nil): try await session.signOut()
        default: throw Misused()
        }
    }
}
