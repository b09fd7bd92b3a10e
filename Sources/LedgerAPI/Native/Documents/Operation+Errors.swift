internal import HTTP
internal import Ledger
internal import LedgerWire

extension APIDocument.Entry {
    /// The errors that any request may get.
    private static let common: [ErrorAnswer] =
        HTTPRejection.allCases.map { ErrorAnswer($0) }
        + [
            APIError.methodNotAllowed(allowed: ["GET", "OPTIONS"]), .starting,
            .faulted(.unavailable),
        ].map { ErrorAnswer($0) }

    /// Every error that the route can answer, from the error table.
    var errors: [ErrorAnswer] {
        guard !isOnAdminListener else { return Self.common }
        var errors: [APIError] = []
        switch operation.access {
        case .anyone: break
        case .anyoneOrAccountHolder, .accountHolder:
            errors += [.accessTokenMissing, .accessTokenInvalid]
        case .principal(let roles):
            errors += [.apiKeyMissing, .apiKeyInvalid]
            if roles != Set(Role.allCases) { errors.append(.forbidden) }
        }
        if isTenantScoped { errors.append(.notFound) }
        if requiresServedTenant { errors.append(.faulted(.tenantMoved)) }
        if operation.body != nil { errors.append(.notJSON) }
        return Self.common + (errors + operation.refusals).map { ErrorAnswer($0) }
    }

    /// The errors by status, in order, each code and message once.
    var errorsByStatus: [(status: Int, errors: [ErrorAnswer])] {
        Dictionary(grouping: errors, by: \.status).sorted { $0.key < $1.key }.map {
            status, errors in
            var seen: Set<String> = []
            let unique = errors.filter { seen.insert("\($0.code.rawValue) \($0.message)").inserted }
            return (status: status, errors: unique)
        }
    }
}
