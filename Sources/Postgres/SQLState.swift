/// A five-character SQLSTATE code; an open set, because the server may send codes unnamed here.
///
/// Works as a `catch` pattern: `catch SQLState.uniqueViolation` matches a
/// `PostgresError.server` that carries the code.
package struct SQLState: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The code as the server sent it, for example `23505`.
    package let rawValue: String

    /// Wraps a code; any string is accepted, since only the server makes them.
    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The code itself.
    package var description: String { rawValue }

    /// The first two characters, which name the class of the condition.
    package var conditionClass: String { String(rawValue.prefix(2)) }
}

/// Matches an error that is a `PostgresError.server` with this code.
package func ~= (pattern: SQLState, error: any Error) -> Bool {
    guard case .server(let refusal)? = error as? PostgresError else { return false }
    return refusal.state == pattern
}

extension SQLState {
    /// A feature that the server does not support, or a cached plan whose result type changed:
    /// `0A000`.
    package static let featureNotSupported = Self(rawValue: "0A000")
    /// Invalid data: `22000`.
    package static let dataException = Self(rawValue: "22000")
    /// A value that is malformed for its type: `22P02`.
    package static let invalidTextRepresentation = Self(rawValue: "22P02")
    /// A division by zero: `22012`.
    package static let divisionByZero = Self(rawValue: "22012")
    /// A duplicate value of a unique key: `23505`.
    package static let uniqueViolation = Self(rawValue: "23505")
    /// A write in a read-only transaction, also on a standby: `25006`.
    package static let readOnlyTransaction = Self(rawValue: "25006")
    /// A statement after an error in the same transaction: `25P02`.
    package static let inFailedTransaction = Self(rawValue: "25P02")
    /// A transaction that was idle beyond its limit, which ends the connection: `25P03`.
    package static let idleInTransactionTimeout = Self(rawValue: "25P03")
    /// A prepared statement that does not exist: `26000`.
    package static let invalidStatementName = Self(rawValue: "26000")
    /// A privilege that the role does not have: `42501`.
    package static let insufficientPrivilege = Self(rawValue: "42501")
    /// A statement that does not parse: `42601`.
    package static let syntaxError = Self(rawValue: "42601")
    /// A column that does not exist: `42703`.
    package static let undefinedColumn = Self(rawValue: "42703")
    /// A function that does not exist: `42883`.
    package static let undefinedFunction = Self(rawValue: "42883")
    /// A database that exists already: `42P04`.
    package static let duplicateDatabase = Self(rawValue: "42P04")
    /// A table that exists already: `42P07`.
    package static let duplicateTable = Self(rawValue: "42P07")
    /// A table that does not exist: `42P01`.
    package static let undefinedTable = Self(rawValue: "42P01")
    /// An object that is not in the state that the statement requires: `55000`.
    package static let objectNotInPrerequisiteState = Self(rawValue: "55000")
    /// A lock that could not be acquired in time: `55P03`.
    package static let lockNotAvailable = Self(rawValue: "55P03")
    /// A statement that was cancelled, also by `statement_timeout`: `57014`.
    package static let queryCanceled = Self(rawValue: "57014")
    /// An exception raised by SQL itself: `P0001`.
    package static let raiseException = Self(rawValue: "P0001")
    /// An error without a more precise code, also of an extension: `XX000`.
    package static let internalError = Self(rawValue: "XX000")
}
