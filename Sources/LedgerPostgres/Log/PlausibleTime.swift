/// The SQL that reads a time column safely, whatever Postgres has stored in it, including infinity.
///
/// One unreadable row must not prevent reading the others; where the time proves nothing, another
/// one does no harm.
package enum PlausibleTime {
    /// Returns the column, replaced by the start of 1970 if it is before that or after the year
    /// 9998.
    package static func sql(_ column: String) -> String {
        "CASE WHEN \(column) BETWEEN 'epoch' AND '9999-01-01' THEN \(column) ELSE 'epoch' END"
    }
}
