#if canImport(SwiftUI)
    import LedgerClient
    public import SwiftUI

    /// A screen of linked accounts.
    public struct LinkedAccountsView: View {
        @State private var model: LinkedAccountsModel
        @State private var unlinking: Identity?
        @State private var code = ""

        /// Shows a model.
        public init(_ model: LinkedAccountsModel) {
            _model = State(initialValue: model)
        }

        /// The list of providers, with questions and failures.
        public var body: some View {
            List {
                Section("Linked accounts") {
                    ForEach(model.rows) { row in
                        rowView(row)
                    }
                }
                if let failure = model.failure {
                    Section {
                        Text(failure).foregroundStyle(.red)
                        if let request = model.failedRequest {
                            Text("Request \(request)").font(.footnote)
                        }
                    }
                }
                Section {
                    Button("Sign out") { Task { await model.signOut() } }
                    Button("Sign out everywhere", role: .destructive) {
                        Task { await model.signOut(everywhere: true) }
                    }
                }
            }
            .disabled(model.isBusy)
            .task { await model.load() }
            .refreshable { await model.load() }
            .confirmationDialog(
                "Unlink?", isPresented: isUnlinking, presenting: unlinking
            ) { identity in
                Button("Unlink", role: .destructive) {
                    Task { await model.unlink(identity) }
                }
            } message: { identity in
                Text("You can no longer sign in with \(identity.email ?? identity.provider).")
            }
            .sheet(isPresented: isMerging) { mergeView }
            .confirmationDialog(
                "Sign in again", isPresented: isSigningIn, titleVisibility: .visible
            ) {
                ForEach(model.rows.filter(\.isLinked)) { row in
                    Button(row.provider.displayName) {
                        Task { await model.signInAgain(at: row.provider.name) }
                    }
                }
            } message: {
                Text("Your last sign-in is too long ago for this change. Then repeat the change.")
            }
            .sheet(isPresented: isCompleting) { secondFactorView }
            .alert("Another account", isPresented: isOtherAccount) {
                Button("Sign out") { Task { await model.signOut() } }
                Button("Stay signed in", role: .cancel) { model.question = nil }
            } message: {
                Text("You have signed in to another account, which is shown now.")
            }
        }

        private func rowView(_ row: LinkedAccountsModel.Row) -> some View {
            HStack {
                VStack(alignment: .leading) {
                    Text(row.provider.displayName)
                    ForEach(row.identities) { identity in
                        Text(identity.email ?? "").font(.footnote)
                    }
                }
                Spacer()
                if let identity = row.identities.first {
                    Button("Unlink") { unlinking = identity }.disabled(!row.canUnlink)
                } else {
                    Button("Link") { Task { await model.link(row) } }
                }
            }
        }

        @ViewBuilder private var mergeView: some View {
            if case .merge(let plan, let provider) = model.question {
                VStack(spacing: 16) {
                    Text("Combine two accounts").font(.headline)
                    Text("Afterwards: \(plan.linkedProviders.joined(separator: ", "))")
                    Button("Combine") {
                        Task { await model.merge(plan, provider: provider) }
                    }
                    Button("Cancel", role: .cancel) { model.question = nil }
                }
                .padding()
            }
        }

        /// The fields of a second step by codes: this example has no authenticator of passkeys.
        @ViewBuilder private var secondFactorView: some View {
            if case .secondFactor(let challenge) = model.question {
                Form {
                    TextField("Code", text: $code)
                    ForEach(challenge.factors.filter { $0.kind != .passkey }) { factor in
                        if factor.kind == .phone, model.codeReceiver != factor {
                            Button("Send a code to the number ending in \(factor.hint ?? "")") {
                                Task { await model.sendSecondFactorCode(to: factor) }
                            }
                        } else {
                            Button("Continue with \(Self.name(of: factor))") {
                                Task {
                                    await model.completeSecondFactor(factor, code: code)
                                    code = ""
                                }
                            }
                        }
                    }
                    if let failure = model.failure {
                        Text(failure).foregroundStyle(.red)
                    }
                    Button("Cancel", role: .cancel) {
                        Task { await model.cancelSecondFactor() }
                    }
                }
                .disabled(model.isBusy)
            }
        }

        private static func name(of factor: SecondFactor) -> String {
            switch factor.kind {
            case .authenticatorApp: "the authenticator app"
            case .phone: "the code of the text message"
            case .recoveryCodes: "a recovery code"
            default: factor.kind.rawValue
            }
        }

        private var isCompleting: Binding<Bool> {
            Binding {
                if case .secondFactor = model.question { true } else { false }
            } set: {
                if !$0, case .secondFactor = model.question {
                    Task { await model.cancelSecondFactor() }
                }
            }
        }

        private var isOtherAccount: Binding<Bool> {
            Binding {
                model.question == .otherAccount
            } set: {
                if !$0, model.question == .otherAccount { model.question = nil }
            }
        }

        private var isUnlinking: Binding<Bool> {
            Binding {
                unlinking != nil
            } set: {
                if !$0 { unlinking = nil }
            }
        }

        private var isSigningIn: Binding<Bool> {
            Binding {
                model.question == .signInAgain
            } set: {
                if !$0, model.question == .signInAgain { model.question = nil }
            }
        }

        private var isMerging: Binding<Bool> {
            Binding {
                if case .merge = model.question { true } else { false }
            } set: {
                if !$0, case .merge = model.question { model.question = nil }
            }
        }
    }
#endif
