internal import HTTP

/// Every route; each tenant path exists twice, bare for `default` and behind `/t/{tenant}`.
enum RouteTable {
    static let routes: [any Route.Type] = [
        SignInRoute.self, RefreshRoute.self, SignOutRoute.self, LinkRoute.self,
        UnlinkRoute.self, AccountRoute.self, KeySetRoute.self, HealthRoute.self,
        ReadinessRoute.self, AccessLogRoute.self, EventsRoute.self, EventRoute.self,
        EventStreamRoute.self,
        LogCheckpointRoute.self, LogCheckpointsRoute.self, LogInclusionRoute.self,
        LogConsistencyRoute.self, LogKeysRoute.self,
        AccountAsOfRoute.self, AccountHistoryRoute.self, AccountDiffRoute.self,
        AccountTimelineRoute.self, ConflictsRoute.self,
        ErasurePreviewRoute.self, EraseAccountRoute.self, SetLegalHoldRoute.self,
        PutLegalHoldRoute.self,
        LiftLegalHoldRoute.self, MergePreviewRoute.self, MergeRoute.self,
        SupportMergePreviewRoute.self, SupportMergeRoute.self, UnmergePreviewRoute.self,
        UnmergeRoute.self, RelinkPreviewRoute.self, RelinkRoute.self, SearchRoute.self,
    ]

    static let router: Router<any Route> = {
        var router = Router<any Route>()
        for type in routes {
            let route = type.init()
            router.add(type.method, type.path, route)
            guard type.isTenantScoped else { continue }
            router.add(type.method, "/t/{tenant}\(type.path)", route)
        }
        return router
    }()
}
