import Ledger

/// The attempts counted by an account's budgets, encoded for its `attempts` column.
///
/// The format is a version byte, followed for each attempt by one byte for the action, eight bytes
/// for the time in microseconds since 1970 (most significant first), the 32 bytes of the digest,
/// and the name of the digest's key (empty for none), provider and outcome, each preceded by its
/// length in one byte. Version 1, of a former release, has no names of keys.
enum AttemptList {
    private static let version: UInt8 = 2
    private static let keylessVersion: UInt8 = 1
    private static let fixedByteCount = 1 + 8 + Digest.byteCount

    /// Encodes attempts for the column; nil for an empty list.
    static func encode(_ attempts: [DecisionState.Attempt: Timestamp]) -> [UInt8]? {
        guard !attempts.isEmpty else { return nil }
        var bytes = [version]
        for (attempt, time) in attempts.sorted(by: { $0.value < $1.value }) {
            bytes.append(attempt.action.code)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: time.microseconds >> Int64(shift)))
            }
            bytes.append(contentsOf: attempt.digest.bytes)
            append(attempt.key ?? "", to: &bytes)
            append(attempt.provider.description, to: &bytes)
            append(attempt.outcome, to: &bytes)
        }
        return bytes
    }

    /// Decodes a column's bytes; nil if ``encode(_:)`` did not write them.
    static func decode(_ bytes: [UInt8]) -> [DecisionState.Attempt: Timestamp]? {
        guard let found = bytes.first, [version, keylessVersion].contains(found) else { return nil }
        var attempts: [DecisionState.Attempt: Timestamp] = [:]
        var rest = bytes.dropFirst()
        while !rest.isEmpty {
            guard rest.count > fixedByteCount,
                let action = DecisionState.Attempt.Action(code: rest.removeFirst())
            else { return nil }
            let microseconds = rest.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
            rest = rest.dropFirst(8)
            guard let digest = Digest(Array(rest.prefix(Digest.byteCount))) else { return nil }
            rest = rest.dropFirst(Digest.byteCount)
            guard let key = found == keylessVersion ? "" : text(&rest) else { return nil }
            guard let provider = text(&rest).flatMap(ProviderName.init), let outcome = text(&rest)
            else { return nil }
            let attempt = DecisionState.Attempt(
                action: action, provider: provider, digest: digest,
                key: key.isEmpty ? nil : key, outcome: outcome)
            attempts[attempt] = Timestamp(microseconds: microseconds)
        }
        return attempts
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        guard let count = UInt8(exactly: text.utf8.count) else {
            preconditionFailure("providers' names and outcomes have at most 255 bytes")
        }
        bytes.append(count)
        bytes.append(contentsOf: text.utf8)
    }

    private static func text(_ bytes: inout ArraySlice<UInt8>) -> String? {
        guard let count = bytes.popFirst(), bytes.count >= count else { return nil }
        defer { bytes = bytes.dropFirst(Int(count)) }
        return String(validating: bytes.prefix(Int(count)), as: UTF8.self)
    }
}

extension DecisionState.Attempt.Action {
    fileprivate var code: UInt8 {
        switch self {
        case .link: 1
        case .unlink: 2
        case .merge: 3
        case .secondFactor: 4
        case .password: 5
        }
    }

    fileprivate init?(code: UInt8) {
        switch code {
        case 1: self = .link
        case 2: self = .unlink
        case 3: self = .merge
        case 4: self = .secondFactor
        case 5: self = .password
        default: return nil
        }
    }
}
