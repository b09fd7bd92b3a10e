internal import CFIDO2

/// The preparation of libfido2, and the check of its results.
enum FIDOLibrary {
    /// Prepares the library, once.
    static let isReady: Bool = {
        fido_init(0)
        return true
    }()

    /// Returns whether a call succeeded, and clears OpenSSL's error queue after a failure.
    static func succeeded(_ status: Int32) -> Bool {
        guard status != FIDO_OK else { return true }
        ERR_clear_error()
        return false
    }
}
