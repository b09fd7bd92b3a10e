import Foundation

/// The result of one check of `doctor`.
struct Diagnosis: Sendable {
    enum Level: String, Sendable {
        case good = "ok"
        /// The service works, and a promise or a margin is missing.
        case warning
        /// The service does not work, or not for long.
        case problem
    }

    let level: Level
    /// The checked part.
    let subject: String
    /// The state in which it is, without secrets.
    let finding: String
    /// The action for the operator; nil where nothing has to be done.
    let advice: String?

    static func good(_ subject: String, _ finding: String) -> Diagnosis {
        Diagnosis(level: .good, subject: subject, finding: finding, advice: nil)
    }

    static func warning(_ subject: String, _ finding: String, _ advice: String) -> Diagnosis {
        Diagnosis(level: .warning, subject: subject, finding: finding, advice: advice)
    }

    static func problem(_ subject: String, _ finding: String, _ advice: String) -> Diagnosis {
        Diagnosis(level: .problem, subject: subject, finding: finding, advice: advice)
    }

    /// The line for the operator, and one with the advice.
    var text: String {
        let name = level.rawValue.padding(toLength: 9, withPad: " ", startingAt: 0)
        let advice = advice.map { String(repeating: " ", count: 9) + "-> \($0)\n" } ?? ""
        return "\(name)\(subject): \(finding)\n\(advice)"
    }
}
