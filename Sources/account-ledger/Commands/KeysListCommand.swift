import CommandLine
import Ledger
import LedgerEngine

/// `keys list`: prints the keys.
enum KeysListCommand {
    static let syntax = Syntax(
        words: ["keys", "list"], summary: "print the keys and their use",
        settings: [.keys, .sealerState, .origin, .mode],
        details: """
            With LEDGER_SEALER_STATE also the checkpoint keys, as the public keys that auditors compare.
            """)

    static func run(_: Arguments, _ environment: Environment) async throws -> ExitCode {
        let directory = KeyDirectory(path: try environment.required(.keys))
        guard let files = try directory.list(), !files.isEmpty else {
            throw directory.fault("\(directory.path) holds no keys")
        }
        let now = Timestamp.now
        let choice = try directory.choice(at: now)
        for kind in KeyChoice.Kind.allCases {
            for id in KeyDirectory.ids(of: kind, in: files) {
                Terminal.print("\(kind.rawValue)\t\(id)\t\(state(of: id, kind, choice, at: now))\n")
            }
        }
        try printCheckpointKeys(environment)
        return .success
    }

    private static func printCheckpointKeys(_ environment: Environment) throws(Fault) {
        guard let directory = try SealingSetup.directory(environment, mode: try environment.mode)
        else { return }
        do {
            for key in try directory.keys() {
                let state = key.signs ? "signs" : "former"
                Terminal.print("checkpoint\t\(key.vkey)\t\(state), tenant \(key.tenant)\n")
            }
        } catch {
            throw Fault("\(Setting.sealerState.name): \(error)")
        }
    }

    private static func state(
        of id: String, _ kind: KeyChoice.Kind, _ choice: KeyChoice, at now: Timestamp
    ) -> String {
        if choice.id(of: kind, at: now) == id { return "in use" }
        if let next = choice.next[kind], next.id == id { return "next, from \(next.from) on" }
        return "former"
    }
}
