/// The reasons why no bundle is exported.
package enum ExportRefusal: Error, Hashable, Sendable {
    /// No checkpoint has been signed.
    case nothingSigned
    /// No event of the account exists before the checkpoint.
    case unknownAccount
    /// Stored data differs from what was written or signed.
    case damaged
    /// Too many bundles are being exported.
    case overloaded
    case unavailable
}

/// The bytes of a bundle that is being written; releasing it ends the export.
package protocol BundleBytes: AnyObject, Sendable {
    /// The number of events in the checkpoint that the bundle is verified against.
    var size: Int64 { get }

    /// Returns the next bytes, and waits for them; nil at the end.
    ///
    /// - Returns: Bytes.
    /// - Throws: The reason for which the bundle ends before it is complete, without its manifest, the last file.
    func next() async throws(ExportRefusal) -> [UInt8]?
}

/// Exports bundles without personal data.
package protocol BundleExporter: Sendable {
    /// Begins a bundle of an account, or of the whole log, up to the last checkpoint.
    ///
    /// Returns once the first events are written, so that most refusals are known by then.
    func bundle(
        of account: AccountID?, in tenant: TenantID
    ) async throws(ExportRefusal) -> any BundleBytes
}
