import Console
import EventStore
@_spi(Rooms) import RelayRecords
package import TerminalUI

/// A reverse debugger over a history: the event, those around it, and what it did.
package struct DebuggerView: View {
    private let model: DebuggerModel
    @State private var screen: DebuggerScreen
    @EnvironmentValue(\.leave) private var leave

    package init(_ model: DebuggerModel) {
        self.model = model
        _screen = State(wrappedValue: model.screen)
    }

    package var body: some View {
        VStack {
            HStack {
                Text(screen.head).bold()
                if let stop = screen.stop { Text("stops at \(stop)").foregroundColor(.cyan) }
                if screen.isDamaged { Text("damaged").foregroundColor(.red) }
                Spacer()
                if let indexed = screen.indexed {
                    Text("index \(indexed * 100 / max(screen.last, 1)) %").foregroundColor(.yellow)
                }
            }
            .frame(height: 1)
            Text(screen.summary.map(Self.about) ?? "").frame(height: 1)
            Divider()
            ForEach(screen.neighbors.map(Neighbor.init)) { neighbor in
                Text(neighbor.line(isHere: neighbor.id == screen.position))
                    .bold(neighbor.id == screen.position).frame(height: 1)
            }
            Divider()
            Text(screen.title).bold().frame(height: 1)
            List(screen.rows) { row in
                Text(row.text)
                    .foregroundColor(row.isChanged ? .yellow : nil)
                    .onKey { model.press($0, at: row) }
            }
            status
        }
        .onKey { model.press($0) }
        .task { await model.run(leave: leave) { screen = $0 } }
    }

    @ViewBuilder private var status: some View {
        if let question = screen.question {
            HStack {
                Text(question.label).bold()
                TextField("", text: Binding(get: { model.typed }, set: { model.typed = $0 })) {
                    model.answer()
                }
                .takesFocus()
            }
            .frame(height: 1)
        } else {
            Text(screen.work ?? screen.note ?? "h help, Left and Right go, / searches, q leaves")
                .foregroundColor(screen.work == nil && screen.note == nil ? .secondary : .yellow)
                .frame(height: 1)
        }
    }

    private static func about(_ event: EventSummary) -> String {
        let parts = [
            RFC3339.text(microseconds: event.timeMicroseconds), event.kind, event.operation,
            event.viewer.map { "by \($0)" }, event.mutationID.map { "(\($0))" },
            event.ends.map { "ends \($0)" }, event.reason.map { "because \($0)" },
        ]
        return parts.compactMap(\.self).joined(separator: "  ")
    }
}

private struct Neighbor: Identifiable {
    let event: EventSummary

    init(_ event: EventSummary) { self.event = event }

    var id: UInt64 { event.sequence }

    func line(isHere: Bool) -> String { (isHere ? "▶ " : "  ") + event.line }
}
