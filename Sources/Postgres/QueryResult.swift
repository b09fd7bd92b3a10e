internal import CLibPQ

/// The rows returned by one statement; owns the PGresult and clears it on deinitialization.
///
/// Columns are read by index, from 0, as the Swift type that matches theirs. The index comes from the
/// column's name: by ``column(_:)``, or by a ``SelectList`` where each batch counts. Reading a null without
/// the `optional` variant, another type, or a row or column that does not exist throws
/// `.unexpectedResult`, which never quotes a value.
@safe package final class QueryResult {
    private let result: OpaquePointer

    /// The number of rows returned.
    package let rowCount: Int
    /// The number of columns of each row.
    package let columnCount: Int

    /// Creates the owner of a libpq result; the caller must not clear it.
    init(_ result: OpaquePointer) {
        unsafe self.result = unsafe result
        rowCount = Int(unsafe PQntuples(result))
        columnCount = Int(unsafe PQnfields(result))
    }

    deinit {
        unsafe PQclear(result)
    }

    /// The index of each column by its name; nil for a name that several columns have.
    private lazy var indexes: [String: Int?] = Dictionary(
        (0..<columnCount).map { index in
            (unsafe PQfname(result, Int32(index)).map { unsafe String(cString: $0) } ?? "", index)
        }, uniquingKeysWith: { _, _ in nil })

    /// Returns the index of a column by its name in the statement's result; loops over the rows of a log look
    /// it up once before.
    ///
    /// - Throws: `.unexpectedResult` if no column has that name, or several.
    package func column(_ name: String) throws(PostgresError) -> Int {
        guard let index = indexes[name] ?? nil else {
            throw .unexpectedResult("the statement returns no single column \(name)")
        }
        return index
    }

    /// The number of rows that an INSERT, UPDATE, DELETE, MERGE or SELECT touched; 0 for other
    /// commands.
    package var rowsAffected: Int {
        guard let count = unsafe PQcmdTuples(result) else { return 0 }
        return Int(unsafe String(cString: count)) ?? 0
    }

    /// The server's command tag, such as `INSERT 0 3` or `COMMIT`.
    package var commandTag: String {
        guard let tag = unsafe PQcmdStatus(result) else { return "" }
        return unsafe String(cString: tag)
    }

    /// Whether a value is null.
    package func isNull(_ row: Int, _ column: Int) throws(PostgresError) -> Bool {
        try check(row, column)
        return unsafe PQgetisnull(result, Int32(row), Int32(column)) != 0
    }

    var status: ExecStatusType { unsafe PQresultStatus(result) }

    /// A field of an error; fields that contain values of rows are not available.
    enum ErrorField {
        case state, severity, message, constraint, table

        var code: UInt8 {
            switch self {
            case .state: UInt8(ascii: "C")
            case .severity: UInt8(ascii: "V")
            case .message: UInt8(ascii: "M")
            case .constraint: UInt8(ascii: "n")
            case .table: UInt8(ascii: "t")
            }
        }
    }

    func errorField(_ field: ErrorField) -> String? {
        guard let text = unsafe PQresultErrorField(result, Int32(field.code)) else { return nil }
        return unsafe String(cString: text)
    }

    /// The type of a column; the column must exist.
    func type(of column: Int) -> UInt32 {
        unsafe PQftype(result, Int32(column))
    }

    /// Returns the binary form of a value, nil for null; valid as long as this object.
    func value(_ row: Int, _ column: Int) throws(PostgresError) -> UnsafeRawBufferPointer? {
        try check(row, column)
        guard unsafe PQgetisnull(result, Int32(row), Int32(column)) == 0 else { return nil }
        let length = Int(unsafe PQgetlength(result, Int32(row), Int32(column)))
        let start = unsafe PQgetvalue(result, Int32(row), Int32(column))
        return unsafe UnsafeRawBufferPointer(start: start, count: length)
    }

    private func check(_ row: Int, _ column: Int) throws(PostgresError) {
        guard row >= 0, row < rowCount, column >= 0, column < columnCount else {
            throw .unexpectedResult(
                "row \(row), column \(column) of \(rowCount) rows, \(columnCount) columns")
        }
    }

    func mismatch(_ column: Int, expected: String) -> PostgresError {
        .unexpectedResult("column \(column) of type \(type(of: column)) is not \(expected)")
    }

    func unexpectedNull(_ row: Int, _ column: Int) -> PostgresError {
        .unexpectedResult("row \(row), column \(column) is null")
    }
}

// A PGresult is only touched by the thread that owns its connection.
@available(*, unavailable)
extension QueryResult: Sendable {}
