package import Ledger

/// A row of decision state, as loaded, with its stored MAC.
package struct LoadedRow {
    /// The content that the MAC authenticates.
    package enum Content {
        case identity(Identity, named: Subject)
        case session(Session, RefreshTokenState)
    }

    let content: Content
    let stored: [UInt8]?

    /// Combines the content of a row with its stored MAC.
    package init(content: Content, stored: [UInt8]?) {
        self.content = content
        self.stored = stored
    }
}

extension TenantBatch {
    /// Checks the MACs of the loaded rows, before the commit and after a decision that does not fit the state.
    ///
    /// - Throws: `BatchFault.damaged` for a row that no server has written.
    package func checkLoadedRows() throws(BatchFault) {
        for row in loadedRows {
            switch row.content {
            case .identity(let identity, let subject):
                try check(
                    row.stored, of: .identity(identity, named: subject, of: tenant),
                    in: .identities)
            case .session(let session, let token):
                try check(row.stored, of: .session(session, token, of: tenant), in: .sessions)
            }
        }
    }

    /// Checks the MAC of a row that decisions use.
    ///
    /// - Throws: `BatchFault.damaged` for a row that no server has written.
    package func check(
        _ stored: [UInt8]?, of message: @autoclosure () -> MACMessage, in table: ProtectedTable
    ) throws(BatchFault) {
        guard macs.accept(stored, of: message()) else {
            throw .damaged("\(table.rawValue).mac of tenant \(tenant)")
        }
    }
}
