internal import JSON

/// The actions of a principal in the access log; stored names are frozen.
package enum AccessAction: String, Sendable, Hashable, CaseIterable {
    case createAPIKey = "api_key.create"
    case revokeAPIKey = "api_key.revoke"
    case listAccesses = "access_log.list"
    case readAccount = "account.read"
    case readHistory = "account.history"
    case readDifference = "account.diff"
    case readTimeline = "account.timeline"
    case listConflicts = "conflict.list"
    case readOverview = "overview.read"
    case listHolds = "hold.list"
    case readOwners = "identity.owners"
    case readExternalID = "account.external_id"
    case readConflict = "conflict.read"
    case countConflicts = "conflict.count"
    case reviewConflict = "conflict.review"
    case unreviewConflict = "conflict.unreview"
    case listMessages = "message.list"
    case listEvents = "event.list"
    case readEvent = "event.read"
    case streamEvents = "event.stream"
    case readCheckpoint = "log.checkpoint"
    case listCheckpoints = "log.checkpoints"
    case proveInclusion = "log.inclusion"
    case proveConsistency = "log.consistency"
    case listLogKeys = "log.keys"
    case exportLog = "log.export"
    case previewErasure = "account.erase_preview"
    case eraseAccount = "account.erase"
    case askErasure = "account.erase_request"
    case confirmErasure = "account.erase_confirm"
    case withdrawErasure = "account.erase_withdraw"
    case listErasureRequests = "erasure_request.list"
    case setLegalHold = "account.hold"
    case liftLegalHold = "account.lift_hold"
    case acceptRestore = "log.accept_restore"
    case previewMerge = "account.merge_preview"
    case mergeAccounts = "account.merge"
    case askMerge = "account.merge_request"
    case previewUnmerge = "merge.undo_preview"
    case undoMerge = "merge.undo"
    case askUnmerge = "merge.undo_request"
    case previewRelink = "identity.relink_preview"
    case relinkIdentity = "identity.relink"
    case previewDisable = "account.disable_preview"
    case disableAccount = "account.disable"
    case previewEnable = "account.enable_preview"
    case enableAccount = "account.enable"
    case previewEndSessions = "account.end_sessions_preview"
    case endSessions = "account.end_sessions"
    case previewFactorRemoval = "factor.removal_preview"
    case planFactorRemoval = "factor.removal"
    case stopFactorRemoval = "factor.keep"
    case previewUnlink = "identity.unlink_preview"
    case planUnlink = "identity.unlink"
    case stopUnlink = "identity.keep"
    case importPasswords = "password.import"
    case importAccounts = "account.import"
    case exportAccounts = "account.export"
    case addWebhook = "webhook.add"
    case removeWebhook = "webhook.remove"
    case enableWebhook = "webhook.enable"
    case disableWebhook = "webhook.disable"
    case rotateWebhookSecret = "webhook.rotate_secret"
    case replayWebhook = "webhook.replay"
    case search = "search"
    case readDocument = "api.document"
}

/// One access to the ledger, as it is recorded before the answer is sent.
///
/// Holds no personal data except what a person wrote into the reason.
package struct AccessRecord: Hashable, Sendable {
    /// Whether the access was permitted.
    package enum Outcome: String, Sendable {
        case allowed
        case refused
    }

    /// Nil for the operator's command line.
    package var principal: Principal?
    package var action: AccessAction
    package var account: AccountID?
    package var event: EventID?
    /// The positions, filters and sizes of the request, by name.
    package var details: [String: String] = [:]
    /// Whether personal data was requested and shown, where there is any.
    package var isDisclosed = false
    package var reason: String?
    package var outcome = Outcome.allowed
    package var request: RequestID?

    /// Describes an access.
    package init(by principal: Principal?, _ action: AccessAction) {
        self.principal = principal
        self.action = action
    }

    /// The principal: `api_key:<id>`, `staff:<id>` or `operator`.
    package var principalText: String { principal?.description ?? Self.operatorText }

    /// The role at that time: `auditor`, `support`, `admin` or `operator`.
    package var roleText: String { principal?.role.rawValue ?? Self.operatorText }

    /// The name of the operator's command line.
    package static let operatorText = "operator"

    /// The details as one JSON object, sorted by name.
    package var detailsText: String {
        var writer = JSONWriter(reserving: 64)
        writer.object(details)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

/// A stored record of the access log.
package struct LoggedAccess: Hashable, Sendable {
    /// Its position in the tenant's access log: 0, 1, 2 and so on, gapless, in commit order.
    package let position: Int64
    /// Never earlier than the record before it.
    package let at: Timestamp
    package let principal: String
    package let role: String
    package let action: String
    package let account: AccountID?
    package let event: EventID?
    /// A JSON object of strings.
    package let details: String
    package let isDisclosed: Bool
    package let reason: String?
    package let outcome: String
    package let request: RequestID?

    /// Collects the fields of a record.
    package init(
        position: Int64, at: Timestamp, principal: String, role: String, action: String,
        account: AccountID?, event: EventID?, details: String, isDisclosed: Bool,
        reason: String?, outcome: String, request: RequestID?
    ) {
        self.position = position
        self.at = at
        self.principal = principal
        self.role = role
        self.action = action
        self.account = account
        self.event = event
        self.details = details
        self.isDisclosed = isDisclosed
        self.reason = reason
        self.outcome = outcome
        self.request = request
    }
}
