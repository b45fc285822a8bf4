public import RelayTerminal

extension EnvironmentValues {
    private enum TodoSessionKey: EnvironmentKey {
        static var defaultValue: TodoSession? { nil }
    }

    /// What the client works with.
    var todoSession: TodoSession? {
        get { self[TodoSessionKey.self] }
        set { self[TodoSessionKey.self] = newValue }
    }
}

/// The whole client: the list, its keys, and the state of the connection.
public struct TodoScreen: View {
    private let session: TodoSession
    @State private var filter = TodoFilter.all
    @State private var status = TodoSession.Status()
    @EnvironmentValue(\.leave) private var leave

    public init(_ session: TodoSession) { self.session = session }

    public var body: some View {
        VStack {
            TodoList(filter: filter).frame(maxWidth: .max, maxHeight: .max, alignment: .topLeading)
            Divider()
            if let notice = status.notice {
                // It is to leave room for the list.
                Text(String(notice.prefix(200)).inOneLine).foregroundColor(.red)
            }
            StatusLine(status: status)
            Text("Enter tick  a add  e rename  d remove  J K move  f filter  q leave")
                .foregroundColor(.secondary)
        }
        .onKey("f") { filter = filter.next }
        .onKey("q") { leave() }
        .environmentValue(\.todoSession, session)
        .relayEnvironment(session.environment)
        .task { for await new in session.statuses { status = new } }
    }
}

private struct StatusLine: View {
    @OptimisticEntries var entries
    let status: TodoSession.Status

    var body: some View {
        switch status.connection {
        case .connecting: Text("connecting" + waiting)
        case .live: Text("live" + waiting).foregroundColor(.green)
        case .offline(let attempt, let reason):
            Text("offline\(said(attempt))\(waiting) · \(reason)").frame(height: 1)
                .foregroundColor(.yellow)
        }
    }

    private func said(_ attempt: TodoSession.Status.Attempt) -> String {
        switch attempt {
        case .none: ""
        case .now, .later(..<1): ", reconnecting"
        case .later(let seconds): ", reconnecting in \(seconds) s"
        }
    }

    private var waiting: String {
        switch entries.count {
        case 0: ""
        case 1: " · 1 change waits for the server"
        default: " · \(entries.count) changes wait for the server"
        }
    }
}
