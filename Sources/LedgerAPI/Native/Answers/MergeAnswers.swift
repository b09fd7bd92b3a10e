import JSON
internal import Ledger

/// The effects of a merge that is not done yet.
struct MergePlanAnswer: JSONWritable {
    let plan: MergePlan
    /// Whether another person has to confirm the merge.
    let needsTwo: Bool
    /// The person whose request would be confirmed.
    let asker: Principal?
    let emailFlags: EmailFlags
    /// The digest that the client sends back to agree to the plan.
    let digest: String

    static let schema = Schema.object(
        "MergePlan",
        [
            .required("plan_digest", .planDigest, "Agrees to the plan"),
            .required("expires_in", .integer(MergePlanDigests.lifetimeSeconds), "In seconds"),
        ], MergePlan.properties)
    static let schemaForSupport = Schema.object(
        "SupportMergePlan",
        [
            .required("plan_digest", .planDigest, "Agrees to the plan"),
            .required("expires_in", .integer(MergePlanDigests.lifetimeSeconds), "In seconds"),
            .optional(
                "needs_two", .flag(true),
                "`true` if another person has to confirm it, since an account has a second factor"),
            .optional(
                "asked_by", .text("staff:\(ExampleValue.account)"),
                "The person whose request would be confirmed, as in the access log"),
        ], MergePlan.properties)

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("plan_digest", digest)
            writer.name("expires_in")
            writer.number(MergePlanDigests.lifetimeSeconds)
            if needsTwo {
                writer.name("needs_two")
                writer.flag(true)
            }
            writer.member("asked_by", asker?.description)
            plan.writeMembers(to: &writer, emailFlags)
        }
    }
}

/// A merge that was done.
struct MergedAnswer: JSONWritable {
    let plan: MergePlan
    let event: EventID

    static let schema = Schema.object(
        "Merge",
        [.required("merge", .uuid(ExampleValue.merge), "The event")], MergePlan.properties)

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("merge", event.description)
            plan.writeMembers(to: &writer, [:])
        }
    }
}

extension MergePlan {
    /// The reasons that an identity stays behind.
    private enum Rule: String, CaseIterable {
        /// An account may have one identity of each provider.
        case onePerProvider = "one_per_provider"
        /// An anonymous identity is there until its account has another one.
        case anonymous
    }

    private func rule(of link: Account.Link) -> Rule {
        choices.contains { $0.provider == link.provider } ? .onePerProvider : .anonymous
    }

    fileprivate static let identity: [Property] = [
        .required("identity_id", .identity), .required("provider", .provider),
        .required("linked_at", .time),
        .optional("email_verified", .flag(true).orNull, "Only in a plan, for a known e-mail"),
    ]

    fileprivate static let properties: [Property] = {
        let side = Schema.choice(MergeChoices.Side.allCases.map(\.rawValue))
        let identities = Schema.list(.object("MergedIdentity", identity))
        let behind = Schema.object(
            "IdentityLeftBehind",
            identity,
            [.required("of", side), .required("rule", .choice(Rule.allCases.map(\.rawValue)))])
        let choice = Schema.object(
            "MergeChoice", [.required("provider", .provider), .required("keep", side)])
        let factor = Schema.object(
            "MergedFactor", [.required("factor_id", .factor), .required("of", side)])
        let sessions = Schema.object(
            "SessionsEnd",
            [
                .required("of_account", .uuid(ExampleValue.otherAccount)),
                .required(
                    "opened_by", .list(.identity),
                    "Identities of the survivor: those left behind or, with its first second factor, all"
                ),
            ])
        return [
            .required("user_id", .account, "The account that remains"),
            .required("absorbed_user_id", .uuid(ExampleValue.otherAccount)),
            .required("kept", identities, "The survivor's identities that stay"),
            .required("moved", identities, "The identities that the survivor gets"),
            .required("left_behind", .list(behind)),
            .required("choices", .list(choice), "The providers of which both have an identity"),
            .required("sessions_end", sessions),
            .required(
                "factors", .list(factor), "Of the survivor, afterwards, without recovery codes"),
            .required("linked_providers", .providers, "Of the survivor, afterwards"),
        ]
    }()

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
                        writer.member("rule", rule(of: link).rawValue)
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
            writer.texts(endedOpeners.map(\.description))
        }
        writer.name("factors")
        writer.array { writer in
            for (factors, side) in [(keptFactors, "survivor"), (factors.required, "absorbed")] {
                for factor in factors {
                    writer.object { writer in
                        writer.member("factor_id", factor.description)
                        writer.member("of", side)
                    }
                }
            }
        }
        writer.name("linked_providers")
        writer.texts(linkedProviders.map(\.description))
    }
}

/// The effects of undoing a merge that is not undone yet.
struct UnmergePlanAnswer: JSONWritable {
    let planned: UnmergeAccounts.Preview.Success
    /// The person whose request would be confirmed.
    let asker: Principal?

    static let schema = Schema.object(
        "UnmergePlan", UnmergeAccounts.Plan.properties,
        [
            .required(
                "needs_two", .flag(false),
                "Whether another person has to confirm it, since the survivor has a second factor"
            ),
            .optional(
                "asked_by", .text("staff:\(ExampleValue.account)"),
                "The person whose request would be confirmed, as in the access log"),
        ])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            planned.plan.writeMembers(to: &writer)
            writer.name("needs_two")
            writer.flag(planned.needsTwo)
            if let asker { writer.member("asked_by", asker.description) }
        }
    }
}

/// A merge that was undone.
struct UnmergeAnswer: JSONWritable {
    let plan: UnmergeAccounts.Plan
    /// The `AccountsUnmerged`.
    let event: EventID

    static let schema = Schema.object(
        "Unmerge", [.required("unmerge", .event, "The id of the undoing")],
        UnmergeAccounts.Plan.properties)

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("unmerge", event.description)
            plan.writeMembers(to: &writer)
        }
    }
}

extension UnmergeAccounts.Plan {
    fileprivate static let properties: [Property] = [
        .required("accounts", .list(account), "The survivor, then the absorbed account")
    ]
    private static let account = Schema.object(
        "SeparatedAccount",
        [
            .required("user_id", .account),
            .required("given_back", .list(.object("MergedIdentity", MergePlan.identity))),
            .required("linked_providers", .providers),
            .required("factors", .list(.factor), "The second factors that it gets back"),
        ])

    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.name("accounts")
        writer.array { writer in
            for (account, links, providers, factors) in [
                (survivor, restored, survivorProviders, []),
                (absorbed, returned, absorbedProviders, factors.required),
            ] {
                writer.object { writer in
                    writer.member("user_id", account.description)
                    writer.name("given_back")
                    writer.identities(links, [:])
                    writer.name("linked_providers")
                    writer.texts(providers.map(\.description))
                    writer.name("factors")
                    writer.texts(factors.map(\.description))
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
