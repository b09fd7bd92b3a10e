package import Ledger

extension MACMessage {
    /// An event at its position: log, origin number, position, and the entry's leaf hash.
    static func entry(
        tenant: TenantID, log: EventID, number: Int64, position: LogPosition, leaf: Digest
    ) -> MACMessage {
        var message = MACMessage(.entry, tenant: tenant.description)
        message.uuid(log.bits)
        message.int8(number)
        message.int8(position.value)
        message.raw(leaf.bytes)
        return message
    }

    /// A row of `identities`, without `former_email`, which no decision uses.
    package static func identity(
        _ identity: Identity, named subject: Subject, of tenant: TenantID
    ) -> MACMessage {
        var message = MACMessage(.identity, tenant: tenant.description)
        message.text(subject.provider.description)
        message.text(subject.providerID)
        message.uuid(identity.id.bits)
        message.optional(identity.account) { $0.uuid($1.bits) }
        message.uuid(identity.lastAccount.bits)
        message.int8(identity.linkedAt.microseconds)
        message.int8(identity.linkedPosition.value)
        // At the end and only where it is set, so that the MACs of former releases stay valid.
        if let due = identity.unlinkDue { message.int8(due.microseconds) }
        return message
    }

    /// A row of `sessions`, without `ended_position`, because the end of a session removes its
    /// MAC.
    package static func session(
        _ session: Session, _ token: RefreshTokenState, of tenant: TenantID
    ) -> MACMessage {
        var message = MACMessage(.session, tenant: tenant.description)
        message.uuid(session.id.bits)
        message.uuid(session.account.bits)
        message.uuid(session.identity.bits)
        message.int8(session.authenticatedAt.microseconds)
        message.int8(session.openedAt.microseconds)
        message.int8(session.openedPosition.value)
        message.text(session.methods.description)
        message.raw(token.current.bytes)
        message.optional(token.preceding) {
            $0.raw($1.digest.bytes)
            $0.raw($1.sealedSuccessor)
            $0.int8($1.exchangedAt.microseconds)
        }
        message.int8(Int64(token.generation))
        message.int8(token.expiresAt.microseconds)
        return message
    }

    /// A row of `addresses`.
    package static func address(
        _ address: HeldAddress, named name: AddressName, of tenant: TenantID
    ) -> MACMessage {
        var message = MACMessage(.address, tenant: tenant.description)
        message.text(name.kind.rawValue)
        message.raw(name.digest.bytes)
        message.text(name.key)
        message.uuid(address.id.bits)
        message.uuid(address.account.bits)
        message.int8(address.position.value)
        // A row of a former release has neither.
        if address.keptUntil != nil || address.formerOf != nil {
            message.optional(address.formerOf) { $0.uuid($1.bits) }
            message.optional(address.keptUntil) { $0.int8($1.microseconds) }
        }
        if address.isClaimed { message.text("claimed") }
        return message
    }

    /// A row of `names`.
    package static func name(
        _ held: HeldName, _ name: ExternalName, of tenant: TenantID
    ) -> MACMessage {
        var message = MACMessage(.name, tenant: tenant.description)
        message.text(name.source.description)
        message.text(name.id)
        message.uuid(held.account.bits)
        message.int8(held.position.value)
        return message
    }

    /// A row of `credentials`, without the account, since a command compares the identity.
    package static func password(
        _ version: PasswordVersion, _ sealed: [UInt8], _ wrappingKey: String, of tenant: TenantID
    ) -> MACMessage {
        var message = MACMessage(.credential, tenant: tenant.description)
        message.uuid(version.identity.bits)
        message.int8(version.version.value)
        message.raw(sealed)
        message.text(wrappingKey)
        return message
    }

    /// A row of `factors`, with its last time step or its used codes.
    package static func factor(
        _ factor: HeldFactor, _ sealed: [UInt8], _ wrappingKey: String, counter: Int64,
        key: FactorKey?, of tenant: TenantID
    ) -> MACMessage {
        var message = MACMessage(.factor, tenant: tenant.description)
        message.uuid(factor.id.bits)
        message.text(factor.kind.rawValue)
        message.uuid(factor.account.bits)
        message.int8(factor.position.value)
        message.raw(sealed)
        message.text(wrappingKey)
        message.int8(counter)
        message.optional(factor.removalDue) { $0.int8($1.microseconds) }
        if let key {
            message.text(key.providerID)
            message.text(key.domain)
        }
        return message
    }

    /// A row of `erasure_requests`.
    package static func erasureRequest(
        _ request: ErasureRequest, of tenant: TenantID
    ) -> MACMessage {
        var message = MACMessage(.erasureRequest, tenant: tenant.description)
        message.uuid(request.id.bits)
        message.uuid(request.account.bits)
        message.text(request.asker.description)
        message.raw(request.plan.bytes)
        message.text(request.basis.rawValue)
        message.text(request.reason)
        message.int8(request.askedAt.microseconds)
        message.int8(request.expiresAt.microseconds)
        return message
    }

    /// A row of `merges`.
    package static func merge(_ merge: Merge, of tenant: TenantID) -> MACMessage {
        var message = MACMessage(.merge, tenant: tenant.description)
        message.uuid(merge.id.bits)
        message.int8(merge.position.value)
        message.uuid(merge.survivor.bits)
        message.uuid(merge.absorbed.bits)
        for identities in [merge.moved, merge.dropped, merge.replaced] {
            message.uuids(identities.map(\.bits))
        }
        return message
    }

    /// A row of `rules`.
    package static func rules(_ rules: RulesSet, of tenant: TenantID) -> MACMessage {
        var message = MACMessage(.rules, tenant: tenant.description)
        message.text(rules.body)
        return message
    }

    /// A row of `api_keys`, without `revoked_at`, because the revocation of a key removes its MAC.
    package static func apiKey(_ key: StoredAPIKey, of tenant: TenantID) -> MACMessage {
        var message = MACMessage(.apiKey, tenant: tenant.description)
        message.uuid(key.id.bits)
        message.text(key.label)
        message.text(key.role.rawValue)
        message.raw(key.secretDigest.bytes)
        message.int8(key.createdAt.microseconds)
        message.optional(key.expiresAt) { $0.int8($1.microseconds) }
        return message
    }
}

/// The tables of decision state whose rows have MACs.
package enum ProtectedTable: String, CaseIterable, Sendable {
    case identities
    case sessions
    case merges
    case apiKeys = "api_keys"
    case rules
    case addresses
    case names
    case credentials
    case factors
    case erasureRequests = "erasure_requests"
}
