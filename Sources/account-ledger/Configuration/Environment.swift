import Foundation

/// The environment variables of the process, read by the table of settings.
struct Environment: Sendable {
    private static let quotedCharactersMax = 100

    private let variables: [String: String]

    /// The variables of this process.
    static var ofProcess: Environment { Environment(ProcessInfo.processInfo.environment) }

    init(_ variables: [String: String]) {
        self.variables = variables
    }

    /// The same with another text for a setting, where there is one.
    func setting(_ setting: Setting, to text: String?) -> Environment {
        guard let text else { return self }
        return Environment(variables.merging([setting.name: text]) { $1 })
    }

    /// The text of a setting: its default when it is unset or empty, nil when it has none.
    func text(_ setting: Setting) -> String? {
        given(setting) ?? setting.defaultText
    }

    /// The text of a setting that is set and not empty.
    func given(_ setting: Setting) -> String? {
        guard let text = variables[setting.name], !text.isEmpty else { return nil }
        return text
    }

    /// Variables that look like settings of this program and are none: a misspelling, as a rule.
    var unknownNames: [String] {
        variables.keys.filter { $0.hasPrefix("LEDGER_") && Setting(rawValue: $0) == nil }.sorted()
    }

    /// The text of a setting that has to be set.
    func required(_ setting: Setting) throws(Fault) -> String {
        guard let text = text(setting) else {
            throw Fault("\(setting.name) is not set: \(setting.meaning)")
        }
        return text
    }

    /// A setting read as something; its default is read the same way.
    func value<Value>(
        _ setting: Setting, wants wanted: String, _ read: (String) -> Value?
    ) throws(Fault) -> Value {
        let text = try required(setting)
        guard let value = read(text) else {
            let quoted = Arguments.quoted(String(text.prefix(Self.quotedCharactersMax)))
            throw Fault("\(setting.name) wants \(wanted), not '\(quoted)'")
        }
        return value
    }

    /// A setting that is a whole number inside its range.
    func number(_ setting: Setting) throws(Fault) -> Int64 {
        let range = setting.range ?? Int64.min...Int64.max
        return try value(
            setting, wants: "a whole number from \(range.lowerBound) to \(range.upperBound)"
        ) {
            Int64($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension Environment {
    /// The URL of the runtime login; it can hold a password, so that no message repeats it.
    var databaseURL: String {
        get throws(Fault) { try required(.databaseURL) }
    }

    /// The owner's login: the runtime login unless another is given.
    var migrateURL: String {
        get throws(Fault) {
            if let url = given(.migrateURL) { return url }
            return try databaseURL
        }
    }
}
