import Ledger

/// The commands, by the names of their types.
enum CommandName: String, CaseIterable {
    case openLedger = "OpenLedger"
    case rotateKey = "RotateKey"
    case signIn = "SignIn"
    case linkProvider = "LinkProvider"
    case unlinkProvider = "UnlinkProvider"
    case signOut = "SignOut"
    case refreshSession = "RefreshSession"
    case eraseAccount = "EraseAccount"
    case setLegalHold = "SetLegalHold"
    case liftLegalHold = "LiftLegalHold"
    case recordRestore = "RecordRestore"
    case mergeAccounts = "MergeAccounts"
    case unmergeAccounts = "UnmergeAccounts"
    case relinkProvider = "RelinkProvider"
    case setRules = "SetRules"
    case changePassword = "ChangePassword"
    case resetPassword = "ResetPassword"
    case changeAddress = "ChangeAddress"
    case takeBackAddress = "TakeBackAddress"
    case recordThrottling = "RecordThrottling"
    case importPassword = "ImportPassword"
    case importAccount = "ImportAccount"
    case changeAccess = "ChangeAccess"
    case enrolFactor = "EnrolFactor"
    case removeFactor = "RemoveFactor"
    case planFactorRemoval = "PlanFactorRemoval"
    case planUnlink = "PlanUnlink"
    case endUnlinkPlan = "EndUnlinkPlan"

    /// Names a command.
    ///
    /// It has no default, so that a new command needs a name, and with it a suite.
    init(_ intent: Command.Intent) {
        self =
            switch intent {
            case .openLedger: .openLedger
            case .rotateKey: .rotateKey
            case .signIn: .signIn
            case .linkProvider: .linkProvider
            case .unlinkProvider: .unlinkProvider
            case .signOut: .signOut
            case .refreshSession: .refreshSession
            case .eraseAccount: .eraseAccount
            case .setLegalHold: .setLegalHold
            case .liftLegalHold: .liftLegalHold
            case .recordRestore: .recordRestore
            case .mergeAccounts: .mergeAccounts
            case .unmergeAccounts: .unmergeAccounts
            case .relinkProvider: .relinkProvider
            case .setRules: .setRules
            case .changePassword: .changePassword
            case .resetPassword: .resetPassword
            case .changeAddress: .changeAddress
            case .takeBackAddress: .takeBackAddress
            case .recordThrottling: .recordThrottling
            case .importPassword: .importPassword
            case .importAccount: .importAccount
            case .changeAccess: .changeAccess
            case .enrolFactor: .enrolFactor
            case .removeFactor: .removeFactor
            case .planFactorRemoval: .planFactorRemoval
            case .planUnlink: .planUnlink
            case .endUnlinkPlan: .endUnlinkPlan
            }
    }

    /// The suite, in a file of that name, with scenarios in which the command is accepted and refused.
    var suite: String {
        switch self {
        case .openLedger, .rotateKey, .recordRestore: "OperationTests"
        case .signIn: "SignInTests"
        case .linkProvider: "LinkTests"
        case .unlinkProvider: "UnlinkTests"
        case .signOut, .refreshSession: "SessionTests"
        case .eraseAccount, .setLegalHold, .liftLegalHold: "AdministrationTests"
        case .mergeAccounts, .unmergeAccounts: "MergeScenarioTests"
        case .relinkProvider: "RelinkTests"
        case .setRules: "RulesTests"
        case .changePassword, .resetPassword, .recordThrottling: "PasswordCommandTests"
        case .changeAddress, .takeBackAddress: "AddressChangeTests"
        case .importPassword: "ImportPasswordTests"
        case .importAccount: "ImportAccountTests"
        case .changeAccess: "AccessTests"
        case .enrolFactor, .removeFactor: "SecondFactorTests"
        case .planFactorRemoval: "FactorRemovalTests"
        case .planUnlink, .endUnlinkPlan: "UnlinkPlanTests"
        }
    }
}
