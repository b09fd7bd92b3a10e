import CommandLine
import Ledger
import LedgerMessages
import LedgerSignIn

/// The providers file and the staff's file of a configuration, checked against its other settings.
struct ConfiguredFiles: Sendable {
    /// Nil in the development mode with its built-in providers.
    let tenants: [TenantID: TenantConfiguration]?
    /// Nil without `LEDGER_STAFF`.
    let staff: StaffSetup?

    /// Reads the files.
    ///
    /// - Throws: `Fault` with one line when a file is invalid, or needs a setting that is missing.
    init(_ configuration: ServeConfiguration) throws(Fault) {
        tenants = try configuration.providersPath.map { path throws(Fault) in
            try TenantSetup.read(path: path, limits: configuration.limits)
        }
        let hasAddress =
            configuration.messaging.publicURL != nil || configuration.mode == .development
        for (tenant, configured) in tenants ?? [:] {
            for type in configured.providers.values.map(\.pin.type) {
                switch type.addressKind {
                case .email: try configuration.messaging.require(.email, for: tenant)
                case .phone: try configuration.messaging.require(.sms, for: tenant)
                case nil: break
                }
            }
            guard
                hasAddress || configured.providers.values.allSatisfy({ $0.settings.flow == nil })
            else {
                throw Fault(
                    "tenant \(tenant) has browser flows, but \(Setting.publicURL.name) is not set")
            }
        }
        staff = try configuration.staffPath.map { path throws(Fault) in
            try StaffSetup(path: path)
        }
        guard staff == nil || hasAddress else {
            throw Fault(
                "\(Setting.staff.name) is set, but \(Setting.publicURL.name) is not set")
        }
    }
}
