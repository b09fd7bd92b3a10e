import LedgerPostgres
import LedgerTestSupport
import Postgres
import Testing

/// The guards as reported to a login that does not know which login serves.
@Suite struct AppendOnlySurveyTests {
    @Test func `with a single login no other one is reported to an auditor`() async throws {
        try await ScratchDatabase.with(isMigrated: false) { database in
            let migrator = Migrator(
                ownerURL: database.superuserURL, runtimeURL: database.superuserURL)
            let report = try await database.asSuperuser.run(migrator)
            #expect(report.guards.level == .triggers, "\(report.guards.sentence)")
            let superuser = try await database.asSuperuser.texts("SELECT session_user::text")
            try await database.withAuditor { url in
                let survey = try await SQLConsole(url).survey()
                #expect(survey.guards.level == .triggers, "\(survey.text)")
                #expect(survey.logins == [])
                #expect(survey.privilegedLogins.contains(superuser[0]))
                #expect(!survey.text.contains("cannot change the log"), "\(survey.text)")
                #expect(survey.text.contains("no login may append except those"), "\(survey.text)")
            }
            let survey = try await database.asSuperuser.survey()
            #expect(survey.logins == superuser)
            #expect(survey.guards.level == .triggers, "\(survey.text)")
        }
    }

    @Test(arguments: [
        (ScratchDatabase.Owner.plain, AppendOnlyLevel.separateRoles),
        (.roleCreator, .separateRoles), (.superuser, .eventTriggers),
    ])
    func `a serving login is named, and logins with more rights`(
        owner: ScratchDatabase.Owner, level: AppendOnlyLevel
    ) async throws {
        try await ScratchDatabase.with(owner: owner) { database in
            try await database.withAuditor { url in
                let auditor = SQLConsole(url)
                let survey = try await auditor.survey()
                #expect(survey.guards.level == level, "\(survey.text)")
                #expect(survey.logins == [database.runtimeLogin])
                #expect(
                    survey.text.contains(
                        "a server that uses the login \(database.runtimeLogin), but not"))
                if let owner = database.ownerLogin {
                    #expect(survey.privilegedLogins.contains(owner))
                }
                #expect(try await database.asRuntime.survey().logins == survey.logins)

                // A login that may append without the group counts, too, and lowers the level by its rights.
                try await database.asSuperuser.execute(
                    """
                    GRANT INSERT ON events TO "\(database.name)_reader";
                    GRANT CREATE ON SCHEMA public TO "\(database.name)_reader"
                    """)
                let both = try await auditor.survey()
                #expect(both.logins == [database.runtimeLogin, "\(database.name)_reader"])
                #expect(both.guards.level == .triggers, "\(both.text)")
                try await database.asSuperuser.execute("DROP OWNED BY \"\(database.name)_reader\"")
            }
        }
    }

    @Test func `a serving login that can assume any role does not count`() async throws {
        try await ScratchDatabase.with { database in
            try await database.asSuperuser.execute("ALTER ROLE \(database.runtimeLogin) CREATEROLE")
            try await database.withAuditor { url in
                let survey = try await SQLConsole(url).survey()
                #expect(survey.logins == [])
                #expect(survey.privilegedLogins.contains(database.runtimeLogin))
                #expect(survey.guards.level == .triggers, "\(survey.text)")
            }
            // The serving login includes itself in its own survey.
            let survey = try await database.asRuntime.survey()
            #expect(survey.logins == [database.runtimeLogin])
            #expect(survey.guards.level == .triggers, "\(survey.text)")
        }
    }
}

extension SQLConsole {
    fileprivate func survey() async throws -> AppendOnlySurvey {
        try await with { try AppendOnlySurvey($0) }
    }
}
