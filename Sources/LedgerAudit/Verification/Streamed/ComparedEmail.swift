import Ledger

/// An e-mail and its flag as one text: sums of rows keep one digest of both.
///
/// The flag comes first, so that no other e-mail has the same text.
enum ComparedEmail {
    /// The SQL for the text of a row of `user_providers`; null where both columns are.
    static let sql = """
        coalesce(coalesce(email_verified::text, '-') || email, email_verified::text)
        """

    /// Returns the text that the row must have.
    static func text(of email: Email) -> String {
        (email.isVerified.map { "\($0)" } ?? "-") + email.address
    }
}
