import Postgres

/// A statement over rows that are given as parallel columns, in two forms of one text.
///
/// Many rows come as arrays (``ArrayRows``). One row comes as plain values, which the server need not take
/// apart first: under light load most batches are of one command, and its
/// statements take a fifth less of the server's time then.
struct RowsStatement: Sendable {
    private let many: Statement
    private let one: Statement

    /// Makes both forms.
    ///
    /// - Parameters:
    ///   - name: the statement's name.
    ///   - columns: the columns' names and SQL types; their values are the parameters from the first on.
    ///   - ordinal: the name of a last column that counts the rows from 1; nil for none.
    ///   - text: makes the text out of the rows, which stand in its FROM clause and are called `k`.
    init(
        _ name: String, _ columns: KeyValuePairs<String, String>, ordinal: String? = nil,
        _ text: (_ rows: String) -> String
    ) {
        let names = columns.map(\.key) + (ordinal.map { [$0] } ?? [])
        var values = columns.enumerated().map { "$\($0.offset + 1)::\($0.element.value)" }
        if ordinal != nil { values.append("1::bigint") }
        many = Statement(name, text("\(ArrayRows.sql(columns, ordinal: ordinal)) AS k"))
        one = Statement(
            "\(name)_one",
            text(
                """
                (VALUES (\(values.joined(separator: ", "))))
                    AS k (\(names.joined(separator: ", ")))
                """))
    }

    /// A call with columns of so many rows, and what other parameters follow them.
    ///
    /// - Precondition: every column is an array of that many values.
    func call(rows: Int, _ columns: [Parameter], _ others: [Parameter] = []) -> Call {
        guard rows == 1 else { return Call(many, columns + others) }
        return Call(one, columns.map(\.only) + others)
    }
}

extension Parameter {
    /// The value of an array of one.
    fileprivate var only: Parameter {
        let value: Parameter? =
            switch self {
            case .null, .bool, .int4, .int8, .text, .bytes, .uuid, .timestamp: nil
            case .bools(let values): values.first.map(Parameter.bool)
            case .optionalBools(let values): values.first.map { $0.map(Parameter.bool) ?? .null }
            case .int4s(let values): values.first.map(Parameter.int4)
            case .int8s(let values): values.first.map(Parameter.int8)
            case .optionalInt8s(let values): values.first.map { $0.map(Parameter.int8) ?? .null }
            case .texts(let values): values.first.map(Parameter.text)
            case .optionalTexts(let values): values.first.map { $0.map(Parameter.text) ?? .null }
            case .byteses(let values): values.first.map(Parameter.bytes)
            case .optionalByteses(let values):
                values.first.map { $0.map(Parameter.bytes) ?? .null }
            case .uuids(let values): values.first.map(Parameter.uuid)
            case .optionalUUIDs(let values): values.first.map { $0.map(Parameter.uuid) ?? .null }
            case .timestamps(let values): values.first.map(Parameter.timestamp)
            case .optionalTimestamps(let values):
                values.first.map { $0.map(Parameter.timestamp) ?? .null }
            }
        guard let value else { preconditionFailure("a column of one row is an array of one") }
        return value
    }
}
