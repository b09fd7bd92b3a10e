package import Ledger

extension FormerLink {
    /// Reads the disclosures of an identity's last link from a complete log; nil when it was never linked.
    package init?(of identity: IdentityID, in log: [Recording]) {
        let last = log.lastIndex {
            if case .providerLinked(let fact) = $0.recorded.event {
                fact.identity == identity
            } else {
                false
            }
        }
        guard let last else { return nil }
        var disclosed = log[last].disclosed
        // The first sign-in of an account discloses the e-mail of the identity that opened it.
        if log.indices.contains(last + 1), case .signedIn = log[last + 1].recorded.event,
            log[last + 1].recorded.command == log[last].recorded.command
        {
            disclosed += log[last + 1].disclosed.filter {
                [.email, .emailVerified].contains($0.name)
            }
        }
        let values = DisclosedValues(disclosed)
        self.init(
            position: log[last].recorded.position, providerID: values.providerID,
            email: values.email)
    }
}
