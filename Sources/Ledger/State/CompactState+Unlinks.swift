extension CompactState {
    func unlinkDue(of identity: IdentityID) -> Timestamp? {
        unlinkDues.isEmpty ? nil : unlinkDues[identity]
    }

    mutating func setUnlinkDue(_ due: Timestamp?, of identity: IdentityID) {
        unlinkDues[identity] = due
    }

    /// Drops the plan of an identity that leaves its account.
    mutating func endUnlinkPlan(of identity: IdentityID) {
        if !unlinkDues.isEmpty { unlinkDues[identity] = nil }
    }
}
