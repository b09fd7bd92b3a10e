/// The addresses of a file that a record claims and a later one of another account proves, as hashes.
///
/// A proof beats a claim, whatever their order. While a file is read, each claim takes about 40 bytes; what remains
/// are those that were proved.
struct ProvedClaims {
    /// The id of the account that claims an address first.
    private var claimants: [Int: Int] = [:]
    private var proved: Set<Int> = []

    var hasClaims: Bool { !claimants.isEmpty }

    /// The proved ones alone.
    var found: ProvedClaims {
        var found = ProvedClaims()
        found.proved = proved
        return found
    }

    /// Whether an address is one that a later record proves.
    func contains(_ address: String) -> Bool {
        !proved.isEmpty && proved.contains(address.hashValue)
    }

    /// Adds the address of the next record.
    ///
    /// - Parameters:
    ///   - address: The canonical form.
    ///   - isProof: Whether the other system has verified it; otherwise the account claims it.
    ///   - id: The account's id, which distinguishes a second record of the same account from a record of another account.
    mutating func add(_ address: String, isProof: Bool, of id: String) {
        let (key, account) = (address.hashValue, id.hashValue)
        if !isProof {
            claimants[key] = claimants[key] ?? account
        } else if let claimant = claimants[key], claimant != account {
            proved.insert(key)
        }
    }
}
