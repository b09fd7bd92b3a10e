import Postgres

/// A statement over rows given as parallel columns, in two forms of one text.
///
/// Several rows are passed as arrays (``ArrayRows``). A single row is passed as plain values, which
/// the server need not unnest: under light load most batches have one command, and its statements
/// then take a fifth less of the server's time.
struct RowsStatement: Sendable {
    private let many: Statement
    private let one: Statement

    /// Creates both forms.
    ///
    /// - Parameters:
    ///   - name: The statement's name.
    ///   - columns: The columns' names and SQL types; their values are the first parameters.
    ///   - ordinal: The name of a last column that numbers the rows from 1; nil for none.
    ///   - single: A text for a single row that names its values, `$1` and so on, where that is faster; nil for the
    ///     same text.
    ///   - text: Builds the text from the rows, which appear in its FROM clause under the alias `k`.
    init(
        _ name: String, _ columns: KeyValuePairs<String, String>, ordinal: String? = nil,
        single: String? = nil, _ text: (_ rows: String) -> String
    ) {
        let names = columns.map(\.key) + (ordinal.map { [$0] } ?? [])
        var values = columns.enumerated().map { "$\($0.offset + 1)::\($0.element.value)" }
        if ordinal != nil { values.append("1::bigint") }
        many = Statement(name, text("\(ArrayRows.sql(columns, ordinal: ordinal)) AS k"))
        one = Statement(
            "\(name)_one",
            single
                ?? text(
                    """
                    (VALUES (\(values.joined(separator: ", "))))
                        AS k (\(names.joined(separator: ", ")))
                    """))
    }

    /// Creates a call with columns of this many rows, followed by other parameters.
    ///
    /// - Precondition: Every column is an array of that many values.
    func call(rows: Int, _ columns: [Parameter], _ others: [Parameter] = []) -> Call {
        guard rows == 1 else { return Call(many, columns + others) }
        return Call(one, columns.map(\.only) + others)
    }
}

extension Parameter {
    /// The value of a one-element array.
    fileprivate var only: Parameter {
        guard let value = element(0) else {
            preconditionFailure("a one-row column must be a one-element array")
        }
        return value
    }

    /// Returns an element of an array; nil for a single value, and behind the end.
    func element(_ index: Int) -> Parameter? {
        func of<Value>(_ values: [Value], _ make: (Value) -> Parameter) -> Parameter? {
            values.indices.contains(index) ? make(values[index]) : nil
        }
        func orNull<Value>(_ values: [Value?], _ make: (Value) -> Parameter) -> Parameter? {
            of(values) { $0.map(make) ?? .null }
        }
        return switch self {
        case .null, .image, .bool, .int4, .int8, .text, .bytes, .uuid, .timestamp: nil
        case .bools(let values): of(values, Parameter.bool)
        case .optionalBools(let values): orNull(values, Parameter.bool)
        case .int4s(let values): of(values, Parameter.int4)
        case .int8s(let values): of(values, Parameter.int8)
        case .optionalInt8s(let values): orNull(values, Parameter.int8)
        case .texts(let values): of(values, Parameter.text)
        case .optionalTexts(let values): orNull(values, Parameter.text)
        case .byteArrays(let values): of(values, Parameter.bytes)
        case .optionalByteArrays(let values): orNull(values, Parameter.bytes)
        case .uuids(let values): of(values, Parameter.uuid)
        case .optionalUUIDs(let values): orNull(values, Parameter.uuid)
        case .timestamps(let values): of(values, Parameter.timestamp)
        case .optionalTimestamps(let values): orNull(values, Parameter.timestamp)
        }
    }
}
