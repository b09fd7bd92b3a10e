/// How statements read a time that may be anything that Postgres can store, infinity too.
///
/// One row that cannot be read must not keep others from being read; where the time proves nothing, another
/// one does no harm.
enum PlausibleTime {
    /// The column, and the first of 1970 instead of what is before it or behind the year 9998.
    static func sql(_ column: String) -> String {
        "CASE WHEN \(column) BETWEEN 'epoch' AND '9999-01-01' THEN \(column) ELSE 'epoch' END"
    }
}
