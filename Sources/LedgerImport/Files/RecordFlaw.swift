/// The reasons why a record of a file is no account.
package enum RecordFlaw: String, Error, Hashable, Sendable, CaseIterable {
    /// The record is longer than the maximum.
    case tooLong = "record_too_long"
    /// The record is not of the format, or not UTF-8.
    case malformed = "malformed_record"
    /// The record has no id that could be a name of the account.
    case noID = "no_id"
    /// The other system keeps the record of a deleted account.
    case deleted = "deleted_account"
}
