/// Does something when Enter or Space is pressed, or when it is clicked.
public struct Button<Label: View>: PrimitiveView {
    private let label: Label
    private let action: @MainActor () -> Void

    /// - Parameters:
    ///   - action: what it does.
    ///   - label: what is to be seen.
    public init(
        action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label
    ) {
        self.action = action
        self.label = label()
    }

    package func makeNode(_ context: ViewContext) -> ButtonNode { ButtonNode(context) }

    package func update(_ node: ButtonNode, _ context: ViewContext) {
        node.action = action
        node.setContent(label)
    }
}

extension Button where Label == Text {
    /// - Parameters:
    ///   - title: what is to be seen.
    ///   - action: what it does.
    public init(_ title: some StringProtocol, action: @escaping @MainActor () -> Void) {
        self.init(action: action) { Text(title) }
    }
}

package final class ButtonNode: WrapperNode {
    var action: @MainActor () -> Void = {}

    package override var isControl: Bool { true }

    package override func handle(_ key: KeyPress) -> Bool {
        guard environment.isEnabled, key == KeyPress(.enter) || key == " " else { return false }
        action()
        return true
    }

    package override func handle(_ event: MouseEvent) -> Bool {
        guard environment.isEnabled, case .press = event.kind else { return false }
        action()
        return true
    }

    package override func draw(into buffer: inout CellBuffer, clip: Rect) {
        super.draw(into: &buffer, clip: clip)
        drawFocus(into: &buffer, clip: clip)
    }
}

extension ViewNode {
    /// What has the focus is inverse.
    func drawFocus(into buffer: inout CellBuffer, clip: Rect) {
        guard isFocused else { return }
        buffer.restyle(frame.intersection(clip)) { $0.attributes.formSymmetricDifference(.inverse) }
    }
}

/// Switches something on and off with Enter, Space or a click.
public struct Toggle<Label: View>: View {
    private let isOn: Binding<Bool>
    private let label: Label

    /// - Parameters:
    ///   - isOn: what it switches.
    ///   - label: what stands beside it.
    public init(isOn: Binding<Bool>, @ViewBuilder label: () -> Label) {
        self.isOn = isOn
        self.label = label()
    }

    public var body: some View {
        Button {
            isOn.wrappedValue.toggle()
        } label: {
            HStack {
                Image(systemName: isOn.wrappedValue ? "checkmark.square" : "square")
                label
            }
        }
    }
}

extension Toggle where Label == Text {
    /// - Parameters:
    ///   - title: what stands beside it.
    ///   - isOn: what it switches.
    public init(_ title: some StringProtocol, isOn: Binding<Bool>) {
        self.init(isOn: isOn) { Text(title) }
    }
}

/// How far something is, as a bar; or that something is being done, as a sign that turns.
public struct ProgressView: PrimitiveView {
    private let fraction: Double?

    /// A sign that turns, for work whose end is not known.
    public init() { fraction = nil }

    /// A bar.
    /// - Parameters:
    ///   - value: how far it is; nil: not known.
    ///   - total: how far it will be at the end.
    public init(value: Double?, total: Double = 1) {
        fraction = value.map { total > 0 && $0.isFinite ? min(max($0 / total, 0), 1) : 0 }
    }

    package func makeNode(_ context: ViewContext) -> ProgressNode { ProgressNode(context) }
    package func update(_ node: ProgressNode, _ context: ViewContext) { node.fraction = fraction }
}

package final class ProgressNode: ViewNode {
    var fraction: Double? {
        didSet {
            graph.setAnimated(self, fraction == nil)
            if (fraction == nil) != (oldValue == nil) { invalidateLayout() }
        }
    }
    private let start = ContinuousClock.now
    private static let signs = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]

    package override var animation: Duration? { .milliseconds(100) }

    package override func sizeThatFits(_ proposal: Proposal) -> Size {
        Size(width: fraction == nil ? 1 : min(proposal.width ?? 20, 40), height: 1)
    }

    package override func draw(into buffer: inout CellBuffer, clip: Rect) {
        let style = environment.drawnStyle
        guard let fraction else {
            let tenths = (ContinuousClock.now - start) / .milliseconds(100)
            let sign = Self.signs[Int(tenths) % Self.signs.count]
            buffer.write(sign, at: frame.origin, style: style, clip: frame.intersection(clip))
            return
        }
        let done = Int((fraction * Double(frame.size.width)).rounded())
        let bar =
            String(repeating: "█", count: done)
            + String(repeating: "░", count: max(frame.size.width - done, 0))
        buffer.write(bar, at: frame.origin, style: style, clip: frame.intersection(clip))
    }
}
