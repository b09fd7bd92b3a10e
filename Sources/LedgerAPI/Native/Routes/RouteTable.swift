/// Every route of the native surface.
enum RouteTable {
    /// Every route but those that describe the others.
    static let withoutDocuments: [any Route.Type] = [
        SignInRoute.self, SignInCodeRoute.self, AccountCodeRoute.self, SignUpRoute.self,
        BeginFlowRoute.self, ProvidersRoute.self,
        SignUpPasskeyRoute.self, SignInPasskeyRoute.self,
        LinkPasskeyRoute.self, MergePasskeyRoute.self, SecondFactorRoute.self,
        SecondFactorCodeRoute.self, SecondFactorPasskeyRoute.self, BeginResetRoute.self,
        CompleteResetRoute.self,
        ChangePasswordRoute.self, ChangeAddressRoute.self, BeginAddressReturnRoute.self,
        CompleteAddressReturnRoute.self, RefreshRoute.self,
        SignOutRoute.self, LinkRoute.self,
        UnlinkRoute.self, AccountRoute.self, ActivityRoute.self, KeepIdentityRoute.self,
        NameIdentityRoute.self,
        FactorsRoute.self,
        BeginEnrolmentRoute.self,
        BeginPasskeyFactorRoute.self,
        EnrolFactorRoute.self, RemoveFactorRoute.self, KeepFactorRoute.self,
        RecoveryCodesRoute.self, KeySetRoute.self,
        HealthRoute.self,
        ReadinessRoute.self, AccessLogRoute.self, EventsRoute.self, EventRoute.self,
        EventStreamRoute.self,
        LogCheckpointRoute.self, LogCheckpointsRoute.self, LogInclusionRoute.self,
        LogConsistencyRoute.self, LogKeysRoute.self,
        AccountAsOfRoute.self, AccountHistoryRoute.self, AccountDiffRoute.self,
        AccountTimelineRoute.self, ConflictsRoute.self, MessagesRoute.self,
        ErasurePreviewRoute.self, EraseAccountRoute.self, ConfirmErasureRoute.self,
        WithdrawErasureRoute.self, ErasureRequestsRoute.self, SetLegalHoldRoute.self,
        PutLegalHoldRoute.self,
        LiftLegalHoldRoute.self, MergePreviewRoute.self, MergeRoute.self,
        SupportMergePreviewRoute.self, SupportMergeRoute.self, UnmergePreviewRoute.self,
        UnmergeRoute.self, RelinkPreviewRoute.self, RelinkRoute.self, DisablePreviewRoute.self,
        DisableRoute.self, EnablePreviewRoute.self, EnableRoute.self, EndSessionsPreviewRoute.self,
        EndSessionsRoute.self, FactorRemovalPreviewRoute.self, FactorRemovalRoute.self,
        FactorRemovalStopRoute.self, UnlinkPreviewRoute.self, PlanUnlinkRoute.self,
        StopUnlinkRoute.self, SearchRoute.self, SearchByBodyRoute.self,
        ConflictRoute.self, ConflictCountsRoute.self, ReviewConflictRoute.self,
        UnreviewConflictRoute.self, OverviewRoute.self, HoldsRoute.self, IdentityOwnersRoute.self,
        ExternalIDRoute.self,
        ExportRoute.self,
    ]

    /// The routes that describe the others; an operator can switch them off.
    static let documents: [any Route.Type] = [
        DocumentRoute.self, StaffDocumentRoute.self, DocumentationRoute.self,
    ]

    static let routes = withoutDocuments + documents

    /// The pages of browser flows and those for people, and the requests that only these make.
    static let pages: [any Route.Type] = [
        StartFlowRoute.self, AgreedFlowRoute.self, FlowCallbackRoute.self, FlowFormRoute.self,
        AccountPageRoute.self, PageAssetRoute.self, PageSessionRoute.self, PageSignOutRoute.self,
        BeginPageFlowRoute.self, PageCallbackRoute.self, QRCodeRoute.self, ConsoleAddressRoute.self,
        ConsolePageRoute.self, ConsoleSignInRoute.self, ConsoleCallbackRoute.self,
        ConsoleSessionRoute.self, ConsoleSignOutRoute.self, ConsoleRoleRoute.self,
    ]
}
