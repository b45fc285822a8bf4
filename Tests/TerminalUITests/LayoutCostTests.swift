import BoundedTesting
import Testing

@testable import TerminalUI

@MainActor @Suite(.bounded, .timeLimit(.minutes(2))) struct LayoutCostTests {
    private final class Questions {
        var count = 0
    }

    /// Counts how often it is asked for its size.
    private struct Leaf: PrimitiveView {
        let questions: Questions

        final class LeafNode: ViewNode {
            var questions: Questions?
            override func sizeThatFits(_ proposal: Proposal) -> Size {
                questions?.count += 1
                return Size(width: min(proposal.width ?? 3, 3), height: 1)
            }
        }

        func makeNode(_ context: ViewContext) -> LeafNode { LeafNode(context) }
        func update(_ node: LeafNode, _ context: ViewContext) { node.questions = questions }
    }

    private struct Nested: View {
        let depth: Int
        let questions: Questions

        var body: some View {
            if depth == 0 {
                Leaf(questions: questions)
            } else if depth.isMultiple(of: 2) {
                VStack {
                    Text("v")
                    Nested(depth: depth - 1, questions: questions)
                }
            } else {
                HStack {
                    Text("h")
                    Nested(depth: depth - 1, questions: questions)
                }
            }
        }
    }

    private func cost(_ depth: Int) -> Int {
        let questions = Questions()
        let pilot = Pilot { Nested(depth: depth, questions: questions) }
        #expect(pilot.frameCount == 1)
        return questions.count
    }

    /// Each level of stacks asks three times.
    @Test func stacksInStacksAreNotAskedAgainAndAgain() {
        #expect(cost(4) < 60)
        #expect(cost(12) < 300)
    }

    /// What fits in no line is not wrapped for it.
    @Test func aLongTextIsLookedAtAFewTimes() {
        let text = String(repeating: "abcdefghi ", count: 2_000)
        let before = TextNode.wrappedCount
        let pilot = Pilot(size: Size(width: 40, height: 3)) {
            HStack {
                Text("name")
                Text(text)
            }
        }
        #expect(pilot.text.hasSuffix("…"))
        // Once as long as it likes to be, and as much of it as the screen has room for.
        #expect(TextNode.wrappedCount - before < 25_000)
    }

    // MARK: Whether views are the same

    private struct Thing {
        let number: Int
    }

    @Test func longCollectionsOfUnknownThingsAreNotCompared() {
        let few = (0..<10).map(Thing.init)
        #expect(isSame(few, few))
        let many = (0..<100_000).map(Thing.init)
        #expect(!isSame(many, many))
        #expect(isSame(Array(0..<100_000), Array(0..<100_000)))
    }
}
