import CommandLine
import Foundation

/// The environment variables of the process, read through the table of settings.
struct Environment: Sendable {
    private static let quotedCharactersMax = 100

    private let variables: [String: String]

    /// The environment of this process.
    static var ofProcess: Environment { Environment(ProcessInfo.processInfo.environment) }

    init(_ variables: [String: String]) {
        self.variables = variables
    }

    /// Returns a copy with another text for a setting; unchanged for nil.
    func setting(_ setting: Setting, to text: String?) -> Environment {
        guard let text else { return self }
        return Environment(variables.merging([setting.name: text]) { $1 })
    }

    /// Returns the text of a setting: the default when it is unset or empty, nil without a default.
    func text(_ setting: Setting) -> String? {
        given(setting) ?? setting.defaultText
    }

    /// Returns the text of a setting; nil when it is unset or empty.
    func given(_ setting: Setting) -> String? {
        guard let text = variables[setting.name], !text.isEmpty else { return nil }
        return text
    }

    /// Unknown variables with the prefix of this program's settings: usually misspellings.
    var unknownNames: [String] {
        variables.keys.filter { $0.hasPrefix("LEDGER_") && Setting(rawValue: $0) == nil }.sorted()
    }

    /// Returns the text of a required setting.
    func required(_ setting: Setting) throws(Fault) -> String {
        guard let text = text(setting) else {
            throw Fault("\(setting.name) is not set: \(setting.meaning)")
        }
        return text
    }

    /// Parses the value of a setting, or its default.
    func value<Value>(
        _ setting: Setting, wants wanted: String, _ read: (String) -> Value?
    ) throws(Fault) -> Value {
        let text = try required(setting)
        guard let value = read(text) else {
            let quoted = Arguments.quoted(String(text.prefix(Self.quotedCharactersMax)))
            throw Fault("\(setting.name) must be \(wanted), not '\(quoted)'")
        }
        return value
    }

    /// Parses a setting that is a whole number within its range.
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
    /// The URL of the runtime login; it can contain a password, so no message quotes it.
    var databaseURL: String {
        get throws(Fault) { try required(.databaseURL) }
    }

    /// The URL of the schema owner's login; defaults to the runtime login.
    var migrateURL: String {
        get throws(Fault) {
            if let url = given(.migrateURL) { return url }
            return try databaseURL
        }
    }

    /// The setting that has the URL of the schema owner's login.
    var migrateSetting: Setting { given(.migrateURL) == nil ? .databaseURL : .migrateURL }
}
