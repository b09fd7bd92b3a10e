/// The bytes of an entry: RFC 8785 canonical JSON in which every leaf is a string or null.
///
/// Every string in an entry is ASCII without `"`, `\` and control characters (identifiers, names,
/// words, digests, times), so the canonical form needs no escapes, and exactly one form per event
/// is written here and read by `EntryScanner`.
package enum EntryEncoding {
    /// The maximum length of an entry, in bytes; the most that a C2SP tile can hold.
    package static let bytesMax = 65_535

    /// Returns the canonical bytes of an event.
    ///
    /// - Precondition: the entry fits into ``bytesMax``; the fields of every event are bounded to
    ///   ensure this.
    package static func encode(_ recorded: RecordedEvent) -> [UInt8] {
        var writer = EntryWriter()
        writer.raw("{\"_sd\":[")
        for (index, digest) in recorded.disclosureDigests.enumerated() {
            writer.raw(index == 0 ? "\"" : ",\"")
            writer.digest(digest)
            writer.raw("\"")
        }
        writer.raw("],\"_sd_alg\":\"sha-256\",\"accounts\":[")
        for (index, account) in recorded.accounts.enumerated() {
            writer.raw(index == 0 ? "{\"id\":\"" : ",{\"id\":\"")
            account.id.appendText(to: &writer.bytes)
            if let previous = account.previous {
                writer.raw("\",\"prev\":\"")
                writer.digest(previous)
                writer.raw("\",\"seq\":\"")
            } else {
                writer.raw("\",\"prev\":null,\"seq\":\"")
            }
            writer.raw(String(account.sequence))
            writer.raw("\"}")
        }
        writer.raw("],\"actor\":{")
        writer.actor(recorded.actor)
        writer.raw("},\"command\":\"")
        recorded.command.appendText(to: &writer.bytes)
        writer.raw("\",\"details\":")
        let fact = recorded.event.fact
        writer.details(fact.details)
        writer.raw(",\"event\":\"")
        recorded.id.appendText(to: &writer.bytes)
        writer.raw("\",\"outcome\":\"")
        writer.raw(fact.outcome.rawValue)
        writer.raw("\",\"position\":\"")
        writer.raw(recorded.position.description)
        writer.raw("\",\"recorded_at\":\"")
        recorded.recordedAt.appendText(to: &writer.bytes)
        if let request = recorded.request {
            writer.raw("\",\"request\":\"")
            request.appendText(to: &writer.bytes)
            writer.raw("\",\"tenant\":\"")
        } else {
            writer.raw("\",\"request\":null,\"tenant\":\"")
        }
        writer.raw(recorded.tenant.description)
        writer.raw("\",\"type\":\"")
        writer.raw(recorded.event.name.rawValue)
        writer.raw("\",\"v\":\"")
        writer.raw(String(fact.version))
        writer.raw("\"}")
        precondition(
            writer.bytes.count <= bytesMax, "the event's fields exceed the limit of an entry")
        return writer.bytes
    }

    /// Returns the bytes of an entry's `details`.
    static func encode(_ details: EntryDetails) -> [UInt8] {
        var writer = EntryWriter()
        writer.details(details)
        return writer.bytes
    }

    /// Decodes an entry.
    ///
    /// - Throws: `EntryFault` for anything but the canonical bytes of a known event; never traps.
    package static func decode(_ bytes: [UInt8]) throws(EntryFault) -> RecordedEvent {
        guard bytes.count <= bytesMax else { throw .tooLong }
        var scanner = EntryScanner(bytes)
        return try scanner.entry()
    }
}

private struct EntryWriter {
    var bytes: [UInt8] = []

    init() {
        bytes.reserveCapacity(1024)
    }

    mutating func raw(_ text: String) {
        let characters = text.utf8.span
        bytes.append(addingCapacity: characters.count) { bytes in
            for index in characters.indices { bytes.append(characters[index]) }
        }
    }

    mutating func digest(_ digest: Digest) {
        digest.appendBase64URL(to: &bytes)
    }

    mutating func details(_ details: EntryDetails) {
        raw("{")
        for (index, field) in details.fields.enumerated() {
            raw(index == 0 ? "\"" : ",\"")
            raw(field.name)
            raw("\":")
            switch field.value {
            case .text(let text):
                raw("\"")
                raw(text)
                raw("\"")
            case .links(let links): self.links(links)
            }
        }
        raw("}")
    }

    mutating func links(_ links: [Account.Link]) {
        raw("[")
        for (index, link) in links.enumerated() {
            raw(index == 0 ? "{\"identity\":\"" : ",{\"identity\":\"")
            link.identity.appendText(to: &bytes)
            raw("\",\"linked_at\":\"")
            link.linkedAt.appendText(to: &bytes)
            raw("\",\"linked_position\":\"")
            raw(link.position.description)
            raw("\",\"provider\":\"")
            raw(link.provider.description)
            raw("\"}")
        }
        raw("]")
    }

    mutating func actor(_ actor: Actor) {
        switch actor {
        case .account(let id, let session):
            raw("\"id\":\"")
            id.appendText(to: &bytes)
            if let session {
                raw("\",\"session\":\"")
                session.appendText(to: &bytes)
            }
            raw("\",\"type\":\"account\"")
        case .system:
            raw("\"type\":\"system\"")
        case .principal(let principal):
            raw("\"id\":\"")
            principal.id.appendText(to: &bytes)
            raw("\",\"role\":\"")
            raw(principal.role.rawValue)
            raw("\",\"type\":\"")
            raw(principal.kind.rawValue)
            raw("\"")
        }
    }
}
