import LedgerEngine

extension MACKeys {
    /// Returns the MAC of a changed row by the key of its former one; nil if that is not valid.
    ///
    /// A row of an unprotected ledger may have none, and gets none.
    func mac(
        replacing stored: [UInt8]?, of former: MACMessage, by message: MACMessage
    ) -> [UInt8]?? {
        guard let stored else { return allowsUnprotected ? .some(nil) : nil }
        guard accept(stored, of: former), let key = MAC(stored).flatMap({ key($0.key) })
        else { return nil }
        return key.mac(of: message).bytes
    }
}
