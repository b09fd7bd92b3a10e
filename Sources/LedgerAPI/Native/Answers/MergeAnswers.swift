import JSON
internal import Ledger

/// The effects of a merge that is not done yet.
struct MergePlanAnswer: JSONWritable {
    let plan: MergePlan
    let emailFlags: EmailFlags
    /// The digest that the client sends back to agree to the plan.
    let digest: String

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("plan_digest", digest)
            writer.name("expires_in")
            writer.number(MergePlanDigests.lifetimeSeconds)
            plan.writeMembers(to: &writer, emailFlags)
        }
    }
}

/// A merge that was done.
struct MergedAnswer: JSONWritable {
    let plan: MergePlan
    let event: EventID

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("merge", event.description)
            plan.writeMembers(to: &writer, [:])
        }
    }
}

extension MergePlan {
    /// The reason that an identity stays behind: an account may have one identity of each provider.
    private static let rule = "one_per_provider"

    fileprivate func writeMembers(to writer: inout JSONWriter, _ emailFlags: EmailFlags) {
        writer.member("user_id", survivor.description)
        writer.member("absorbed_user_id", absorbed.description)
        for (name, links) in [("kept", kept), ("moved", moved)] {
            writer.name(name)
            writer.identities(links, emailFlags)
        }
        writer.name("left_behind")
        writer.array { writer in
            for (links, side) in [(dropped, "absorbed"), (replaced, "survivor")] {
                for link in links {
                    writer.object { writer in
                        writer.members(of: link, emailFlags)
                        writer.member("of", side)
                        writer.member("rule", Self.rule)
                    }
                }
            }
        }
        writer.name("choices")
        writer.array { writer in
            for choice in choices {
                writer.object { writer in
                    writer.member("provider", choice.provider.description)
                    writer.member("keep", choice.keepsAbsorbed ? "absorbed" : "survivor")
                }
            }
        }
        writer.name("sessions_end")
        writer.object { writer in
            writer.member("of_account", absorbed.description)
            writer.name("opened_by")
            writer.texts(replaced.map(\.identity.description))
        }
        writer.name("linked_providers")
        writer.texts(linkedProviders.map(\.description))
    }
}

/// The effects of undoing a merge.
struct UnmergeAnswer: JSONWritable {
    let plan: UnmergeAccounts.Plan
    /// The `AccountsUnmerged`; nil for a preview.
    let event: EventID?

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            if let event { writer.member("unmerge", event.description) }
            writer.name("accounts")
            writer.array { writer in
                for (account, links, providers) in [
                    (plan.survivor, plan.restored, plan.survivorProviders),
                    (plan.absorbed, plan.returned, plan.absorbedProviders),
                ] {
                    writer.object { writer in
                        writer.member("user_id", account.description)
                        writer.name("given_back")
                        writer.identities(links, [:])
                        writer.name("linked_providers")
                        writer.texts(providers.map(\.description))
                    }
                }
            }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func identities(_ links: [Account.Link], _ emailFlags: EmailFlags) {
        array { writer in
            for link in links { writer.object { $0.members(of: link, emailFlags) } }
        }
    }

    fileprivate mutating func members(of link: Account.Link, _ emailFlags: EmailFlags) {
        member("identity_id", link.identity.description)
        member("provider", link.provider.description)
        member("linked_at", link.linkedAt.description)
        if let isVerified = emailFlags[link.identity] {
            name("email_verified")
            flag(isVerified)
        }
    }
}
