/// The columns that a statement selects, in order, each with the name by which its rows are read.
///
/// A column is named by its text, such as `i.account_id`, or by what follows `AS`. The statement's text is
/// made from the list, so that name and position agree; a name is looked up once, when the reader of the
/// rows is made, and costs nothing for each row.
package struct SelectList: Sendable {
    private let columns: [String]
    private let positions: [String: Int]

    /// Creates a list.
    ///
    /// - Precondition: No two columns have one name.
    package init(_ columns: [String]) {
        self.columns = columns
        positions = Dictionary(
            uniqueKeysWithValues: columns.enumerated().map {
                (Self.name(of: $0.element), $0.offset)
            })
    }

    /// The text between SELECT and FROM.
    package var sql: String { columns.joined(separator: ", ") }

    /// The number of columns.
    package var count: Int { columns.count }

    /// The position of a column, from 0.
    ///
    /// - Precondition: The list has a column of that name.
    package subscript(_ name: String) -> Int {
        guard let position = positions[name] else {
            preconditionFailure("the statement selects no column \(name)")
        }
        return position
    }

    /// Joins two lists.
    package static func + (left: Self, right: Self) -> Self { Self(left.columns + right.columns) }

    private static func name(of column: String) -> String {
        column.ranges(of: " AS ").last.map { String(column[$0.upperBound...]) } ?? column
    }
}

extension SelectList: ExpressibleByArrayLiteral {
    /// Creates a list of its columns.
    package init(arrayLiteral columns: String...) { self.init(columns) }
}
