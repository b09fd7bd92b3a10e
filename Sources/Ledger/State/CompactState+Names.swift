/// A name in 32 bytes.
struct CompactName {
    let account: AccountID
    let position: LogPosition
    /// An index of the sources.
    let source: UInt32
}

extension CompactState {
    /// Calls a function with every name that an account has, and its index among all names of the log.
    package func eachName(_ body: (Int, HeldName) -> Void) {
        for (index, name) in names.enumerated() where !isErased(name.account) {
            body(
                index,
                HeldName(
                    position: name.position, source: nameSources[Int(name.source)],
                    account: name.account))
        }
    }

    mutating func hold(_ name: HeldName) {
        let known = nameSources.firstIndex(of: name.source)
        if known == nil { nameSources.append(name.source) }
        names.append(
            CompactName(
                account: name.account, position: name.position,
                source: UInt32(known ?? nameSources.count - 1)))
    }
}
