package import Ledger

/// The addresses of a file that a record claims and a later one of another account proves, as hashes.
///
/// A proof beats a claim, whatever their order. While a file is read, each claim and each external id takes about 20
/// bytes; what remains are the claims that were proved.
package struct ProvedClaims: Sendable {
    /// The external ids of the file so far: a second record of one imports nothing.
    private var names: Set<Int> = []
    private var claimed: Set<Int> = []
    private var proved: Set<Int> = []

    /// Starts with nothing.
    package init() {}

    /// The proved ones alone.
    package var found: ProvedClaims {
        var found = ProvedClaims()
        found.proved = proved
        return found
    }

    /// Whether an address is one that a later record proves.
    func contains(_ address: String) -> Bool {
        !proved.isEmpty && proved.contains(address.hashValue)
    }

    /// Reads the next account of the file.
    ///
    /// - Parameter command: The import of the account.
    /// - Returns: Whether it proves an address that an earlier record claims, provided that it is imported.
    package mutating func read(_ command: ImportAccount) -> Bool {
        guard names.insert(command.name.hashValue).inserted else { return false }
        var isProof = false
        for address in command.addresses {
            let key = address.address.text.hashValue
            if address.isClaimed {
                claimed.insert(key)
            } else if claimed.contains(key) {
                isProof = true
            }
        }
        return isProof
    }

    /// Ends the claims of the addresses that an account proves.
    ///
    /// - Parameter command: The import of the account, which is not refused and finds no account of its external id.
    package mutating func end(by command: ImportAccount) {
        for address in command.addresses where !address.isClaimed {
            proved.insert(address.address.text.hashValue)
        }
    }
}
