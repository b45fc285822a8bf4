import BoundedTesting
import Testing

@testable import TerminalUI

/// What is remembered of a layout is forgotten when something in it is another.
@MainActor @Suite(.bounded, .timeLimit(.minutes(2))) struct ChangedLayoutTests {
    private struct Switching<Content: View>: View {
        @State private var isOther = false
        @ViewBuilder let content: (Bool) -> Content

        var body: some View { content(isOther).onKey("s") { isOther.toggle() } }
    }

    private func text(after: String = "s", _ content: @escaping (Bool) -> some View) -> String {
        let pilot = Pilot(size: Size(width: 20, height: 6)) {
            Switching(content: content)
        }
        pilot.press("s")
        return pilot.text
    }

    @Test func numbersOfStacksAndModifiersCanChange() {
        #expect(
            text { isOther in
                HStack {
                    Text("abcdef").frame(width: isOther ? 6 : 2); Text("x")
                }
            }
                == "abcdef x")
        #expect(
            text { isOther in
                HStack(spacing: isOther ? 3 : 0) {
                    Text("a"); Text("b")
                }
            } == "a   b")
        let fresh = Pilot {
            HStack {
                Text("a").padding(horizontal: 2, vertical: 0); Text("b")
            }
        }
        #expect(fresh.text == "  a   b")
        #expect(
            text { isOther in
                HStack {
                    Text("a").padding(horizontal: isOther ? 2 : 0, vertical: 0); Text("b")
                }
            } == "  a   b")
        #expect(
            text { isOther in
                HStack(spacing: 0) {
                    Text("a"); Spacer(minLength: isOther ? 4 : 1); Text("b")
                }
                .frame(width: isOther ? 6 : 3)
            } == "a    b")
        #expect(
            text { isOther in
                HStack {
                    ProgressView(value: isOther ? 0.5 : nil).frame(maxWidth: 4); Text("b")
                }
            } == "██░░ b")
    }

    // MARK: At random

    private indirect enum Tree {
        case text(String)
        case row(Int, [Tree])
        case column(Int, [Tree])
        case layers([Tree])
        case padded(Int, Int, Tree)
        case framed(Int?, Int?, Int?, Tree)
        case progress(Double?)
        case spacer(Int)

        static func random(_ depth: Int, _ random: inout SeededGenerator) -> Tree {
            switch depth > 0
                ? Int.random(in: 0...7, using: &random) : Int.random(in: 5...7, using: &random)
            {
            case 0: .row(.random(in: 0...3, using: &random), several(depth, &random))
            case 1: .column(.random(in: 0...2, using: &random), several(depth, &random))
            case 2: .layers(several(depth, &random))
            case 3:
                .padded(
                    .random(in: 0...2, using: &random), .random(in: 0...1, using: &random),
                    .random(depth - 1, &random))
            case 4:
                .framed(
                    side(&random), side(&random), side(&random), .random(depth - 1, &random))
            case 5:
                .progress(Bool.random(using: &random) ? nil : .random(in: 0...1, using: &random))
            case 6: .spacer(.random(in: 0...3, using: &random))
            default:
                .text(String("one two three four".prefix(.random(in: 0...18, using: &random))))
            }
        }

        private static func several(_ depth: Int, _ random: inout SeededGenerator) -> [Tree] {
            (0..<Int.random(in: 1...3, using: &random)).map { _ in .random(depth - 1, &random) }
        }

        private static func side(_ random: inout SeededGenerator) -> Int? {
            Bool.random(using: &random) ? nil : .random(in: 0...12, using: &random)
        }

        /// The same views with other numbers, and at times another view.
        func changed(_ random: inout SeededGenerator) -> Tree {
            if Int.random(in: 0..<8, using: &random) == 0 { return .random(1, &random) }
            return switch self {
            case .text: .text(String("six seven eight".prefix(.random(in: 0...15, using: &random))))
            case .row(_, let trees):
                .row(.random(in: 0...3, using: &random), trees.map { $0.changed(&random) })
            case .column(_, let trees):
                .column(.random(in: 0...2, using: &random), trees.map { $0.changed(&random) })
            case .layers(let trees): .layers(trees.map { $0.changed(&random) })
            case .padded(_, _, let tree):
                .padded(
                    .random(in: 0...2, using: &random), .random(in: 0...1, using: &random),
                    tree.changed(&random))
            case .framed(_, _, _, let tree):
                .framed(
                    Self.side(&random), Self.side(&random), Self.side(&random),
                    tree.changed(&random))
            case .progress:
                .progress(Bool.random(using: &random) ? nil : .random(in: 0...1, using: &random))
            case .spacer: .spacer(.random(in: 0...3, using: &random))
            }
        }
    }

    private struct Planted: View {
        let tree: Tree

        var body: some View {
            switch tree {
            case .text(let text): Text(text)
            case .row(let spacing, let trees): HStack(spacing: spacing) { Planted.all(trees) }
            case .column(let spacing, let trees): VStack(spacing: spacing) { Planted.all(trees) }
            case .layers(let trees): ZStack { Planted.all(trees) }
            case .padded(let horizontal, let vertical, let tree):
                Planted(tree: tree).padding(horizontal: horizontal, vertical: vertical)
            case .framed(let width, let height, let maxWidth, let tree):
                Planted(tree: tree).frame(width: width, height: height, maxWidth: maxWidth)
            case .progress(let value): ProgressView(value: value)
            case .spacer(let length): Spacer(minLength: length)
            }
        }

        private static func all(_ trees: [Tree]) -> some View {
            ForEach(Array(trees.enumerated()), id: \.offset) { Planted(tree: $0.element) }
        }
    }

    private final class Garden {
        var tree: Tree
        init(_ tree: Tree) { self.tree = tree }
    }

    private struct Growing: View {
        let garden: Garden
        @State private var round = 0

        var body: some View {
            let _ = round
            Planted(tree: garden.tree).onKey("g") { round += 1 }
        }
    }

    /// The sign of a spinner is a matter of time.
    private func text(_ pilot: Pilot) -> String {
        String(pilot.text.map { ("\u{2800}"..."\u{28FF}").contains($0) ? "*" : $0 })
    }

    @Test func whatWasChangedInPlaceLooksLikeWhatIsMadeAnew() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<60 {
            let garden = Garden(.random(3, &random))
            let size = Size(width: 30, height: 12)
            let pilot = Pilot(size: size) { Growing(garden: garden) }
            for _ in 0..<8 {
                garden.tree = garden.tree.changed(&random)
                pilot.press("g")
                let fresh = Pilot(size: size) { Growing(garden: garden) }
                #expect(text(pilot) == text(fresh), "seed \(seed): \(garden.tree)")
                if text(pilot) != text(fresh) { return }
            }
        }
    }
}
