import CommandLine
import Ledger
import LedgerEngine
import LedgerPostgres
import Passwords
import Postgres

/// The first events and key rotations of all tenants, which determine the ledger's mode and keys.
///
/// A server's login can insert rows, so damage to one tenant's log must not affect the others: rows after
/// the head are ignored, and other damage is listed by tenant.
struct TenantOpenings: Sendable {
    private let url: String
    let engine: DatabaseEngine
    /// The first event of each tenant that has a readable one.
    let facts: [TenantID: LedgerOpened]
    /// The time of the upgrade from a release whose digests of requests had no keys.
    let digestsKeyedAt: Timestamp
    /// The key rotations of each tenant, in order.
    let rotations: [TenantID: [KeyRotated]]
    /// The first fault in what the log of a tenant records about its keys, by the tenant's name.
    let damage: [String: String]
    /// The tenants that are moved, or being moved: nothing is appended to their logs here.
    let moves: [TenantID: TenantMove]
    /// The tenants of which an event was not authenticated because its MAC key is not at hand.
    private let unauthenticated: Set<TenantID>

    /// Reads a database after a check that its schema is this binary's.
    ///
    /// `macs` authenticate events; without them a forged one can't be recognised.
    /// - Throws: `Fault` with one line when the database can't be reached or has another schema.
    static func read(
        url: String, named setting: Setting = .databaseURL, macs: MACKeys? = nil
    ) throws(Fault) -> TenantOpenings {
        try SchemaCheck.withConnection(to: url, named: setting) {
            try TenantOpenings(url: url, macs: macs, $0)
        }
    }

    private init(url: String, macs: MACKeys?, _ connection: Connection) throws {
        self.url = url
        engine = try DatabaseEngine(of: connection)
        var facts: [TenantID: LedgerOpened] = [:]
        var rotations: [TenantID: [KeyRotated]] = [:]
        var damage: [String: String] = [:]
        var unauthenticated: Set<TenantID> = []
        for (name, marks) in try AllTenants.keyEvents(on: connection) {
            guard let tenant = TenantID(name) else {
                damage[Arguments.quoted(name)] = "ledger_head names an invalid tenant"
                continue
            }
            let record = KeyRecord(marks, of: tenant, macs: macs)
            facts[tenant] = record.opened
            rotations[tenant] = record.rotations
            damage[name] = record.fault
            if !record.isAuthentic { unauthenticated.insert(tenant) }
        }
        moves = try TenantMove.all(on: connection)
        digestsKeyedAt = try WrappingKeyUse.digestsKeyedAt(on: connection)
        self.facts = facts
        self.rotations = rotations
        self.damage = damage
        self.unauthenticated = unauthenticated
    }

    /// Every tenant whose log has begun, also those with damaged logs, in order.
    var tenants: [TenantID] { rotations.keys.sorted() }

    /// The tenants without known damage.
    var soundTenants: [TenantID] { tenants.filter { damage[$0.description] == nil } }

    /// The tenants whose logs go on here.
    var continuedTenants: [TenantID] { tenants.filter { moves[$0] == nil } }

    /// The tenants without known damage whose logs go on here.
    var servedTenants: [TenantID] { soundTenants.filter { moves[$0] == nil } }

    /// The tenants without known damage whose keys have to exist: a log that has gone on elsewhere needs none.
    var requiringTenants: [TenantID] {
        soundTenants.filter { !(moves[$0]?.state.isFinal ?? false) }
    }

    /// Returns the faults because of which commands of tenants are refused, by the tenant's name.
    func refused(with macs: MACKeys, from directory: KeyDirectory) -> [String: String] {
        var faults = damage
        for tenant in soundTenants {
            if let key = missingMACKey(of: tenant, among: macs) {
                faults[tenant.description] = Self.lacking("MAC key \(key)", of: tenant, directory)
            }
        }
        return faults
    }

    private func missingMACKey(of tenant: TenantID, among macs: MACKeys) -> String? {
        guard let last = keys(of: .mac, in: tenant).last,
            !macs.ids.map(\.description).contains(last)
        else { return nil }
        return last
    }

    private static func lacking(
        _ key: String, of tenant: TenantID, _ directory: KeyDirectory
    ) -> String {
        "\(directory.path) lacks the \(key) that the ledger of tenant \(tenant) requires"
    }

    /// Returns the keys of a kind that a tenant's log names, the current one last.
    func keys(of kind: KeyChoice.Kind, in tenant: TenantID) -> [String] {
        guard let fact = facts[tenant] else { return [] }
        let first: String? =
            switch kind {
            case .token: fact.tokenKey
            case .encryption: fact.encryptionKey
            case .mac: fact.macKey
            case .pepper: nil
            }
        return [first].compactMap(\.self)
            + (rotations[tenant] ?? []).filter { $0.kind.rawValue == kind.rawValue }.map(\.key)
    }

    /// Returns the first token key of the tenant `default`, after which an unset issuer is named; nil
    /// before its log has begun.
    ///
    /// - Throws: `Fault` when the event that names it is damaged.
    func issuingKey() throws(Fault) -> String? {
        guard tenants.contains(.default) else { return nil }
        guard let fact = facts[.default] else {
            throw Fault(
                "the log of tenant default no longer says what the issuer is"
                    + " (\(damage["default"] ?? "")): set \(Setting.issuer.name)")
        }
        return fact.tokenKey
    }

    /// Loads the keys of the directory, and creates them for a ledger without events.
    ///
    /// Without `withPepper` the last pepper may be missing: the rotation that replaces a lost one needs none.
    /// - Throws: `Fault` when the mode or the keys are not the ledger's, or no log is sound.
    func keys(
        from directory: KeyDirectory, mode: LedgerOpened.Mode, withPepper: Bool = true
    ) throws(Fault) -> Keys {
        if soundTenants.isEmpty, let tenant = tenants.first {
            throw Fault(
                "the log of tenant \(tenant) is damaged, and no other one is sound:"
                    + " \(damage[tenant.description] ?? "")")
        }
        guard let keys = tenants.isEmpty ? try directory.loadOrMake() : try load(directory) else {
            throw directory.fault(
                "\(directory.path) holds no keys, but the ledger exists and needs its keys: restore them"
            )
        }
        // An event under a MAC key that is not at hand may be forged, so it is a fault only if no tenant
        // without one is left.
        let served = soundTenants.filter {
            missingMACKey(of: $0, among: keys.wrapping.macs) == nil && !unauthenticated.contains($0)
        }
        let checked = served.isEmpty ? soundTenants : served
        try checkMode(mode, of: checked)
        let required = checked.filter(requiringTenants.contains)
        try check(keys, from: directory, of: required)
        if withPepper { try checkPepper(keys, from: directory, of: required) }
        return keys
    }

    /// Loads the keys, and creates the first MAC key for a ledger of a former release.
    private func load(_ directory: KeyDirectory) throws(Fault) -> Keys? {
        let isNamed = facts.keys.contains { !keys(of: .mac, in: $0).isEmpty }
        return isNamed ? try directory.load() : try directory.loadWithMACKey()
    }

    private func checkMode(_ mode: LedgerOpened.Mode, of tenants: [TenantID]) throws(Fault) {
        for tenant in tenants {
            guard let begun = facts[tenant]?.mode, begun != mode else { continue }
            throw Fault(
                "\(Setting.mode.name) is \(mode.rawValue), but the ledger of tenant \(tenant)"
                    + " was begun in \(begun.rawValue)")
        }
    }

    /// Checks that the last key of each kind that a log names exists, and every key that still wraps the
    /// key of an account or a webhook's secret.
    private func check(
        _ keys: Keys, from directory: KeyDirectory, of tenants: [TenantID]
    ) throws(Fault) {
        for tenant in tenants {
            let token = self.keys(of: .token, in: tenant).last
            let wrapping = self.keys(of: .encryption, in: tenant)
            let missing =
                if let mac = missingMACKey(of: tenant, among: keys.wrapping.macs) {
                    "MAC key \(mac)"
                } else if let last = wrapping.last, !keys.wrapping.ids.contains(last) {
                    "encryption key \(last)"
                } else if let token, !keys.tokenIDs.contains(token) {
                    "token key \(token)"
                } else if let used = try usedKeys(
                    of: tenant, among: Set(wrapping).subtracting(keys.wrapping.ids)
                ).first {
                    "encryption key \(used.key)"
                } else {
                    String?.none
                }
            if let missing { throw directory.fault(Self.lacking(missing, of: tenant, directory)) }
        }
    }

    /// Checks that the last pepper that a log names exists, and that the file `current` names one: a copied
    /// directory without it would hash passwords without a pepper again.
    private func checkPepper(
        _ keys: Keys, from directory: KeyDirectory, of tenants: [TenantID]
    ) throws(Fault) {
        for tenant in tenants {
            guard let last = self.keys(of: .pepper, in: tenant).last else { continue }
            let missing =
                if !keys.peppers.ids.contains(last) {
                    "pepper \(last)"
                } else if keys.announcedPepperID == nil {
                    "line 'pepper \(last)' in the file '\(KeyFile.current.name)'"
                } else {
                    String?.none
                }
            if let missing { throw directory.fault(Self.lacking(missing, of: tenant, directory)) }
        }
    }

    /// Returns the kinds of a tenant's data that need one of these keys, each with a key.
    func usedKeys(
        of tenant: TenantID, among ids: Set<String>
    ) throws(Fault) -> [(key: String, kind: WrappingKeyUse.Kind)] {
        guard !ids.isEmpty else { return [] }
        return try SchemaCheck.withConnection(to: url) { connection in
            try WrappingKeyUse.all(of: ids, in: tenant, on: connection)
        }
    }
}

/// The parts of a log that determine its mode and keys.
private struct KeyRecord {
    typealias Mark = (position: Int64, entry: [UInt8], mac: [UInt8]?)

    private(set) var opened: LedgerOpened?
    private(set) var rotations: [KeyRotated] = []
    /// The first fault.
    private(set) var fault: String?
    /// Whether no event was accepted without its MAC key.
    private(set) var isAuthentic = true

    /// Reads the first event of a log and those that change its keys, in order.
    init(_ marks: [Mark], of tenant: TenantID, macs: MACKeys?) {
        let protection = macs.flatMap { macs in
            macs.isEmpty ? nil : LogProtection(marks: marks, of: tenant, keys: macs)
        }
        for mark in marks {
            do throws(LogDamage) {
                try take(mark, of: tenant, protection)
            } catch {
                fault = fault ?? error.description
            }
        }
        if opened == nil { fault = fault ?? "the log does not begin with LedgerOpened" }
    }

    private mutating func take(
        _ mark: Mark, of tenant: TenantID, _ protection: LogProtection?
    ) throws(LogDamage) {
        let position = LogPosition(mark.position)
        let stored = try StoredEvent(entry: mark.entry, at: position, in: tenant)
        do throws(LogDamage) {
            try protection?.check(mark.mac, at: position, leaf: stored.leaf)
        } catch {
            // The caller reports a key that is not at hand.
            guard error.lacksKey else { throw error }
            isAuthentic = false
        }
        switch stored.recorded.event {
        case .ledgerOpened(let fact) where mark.position == 0: opened = fact
        case .keyRotated(let fact) where mark.position > 0: rotations.append(fact)
        case .ledgerRestored where mark.position > 0: break
        default: throw LogDamage(position: position, fault: "type is not what the entry says")
        }
    }
}
