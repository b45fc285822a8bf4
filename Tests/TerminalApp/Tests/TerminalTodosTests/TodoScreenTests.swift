import Foundation
import RelayTerminal
import Testing

@testable import TerminalTodos

@MainActor @Suite(.timeLimit(.minutes(1))) struct TodoScreenTests {
    private static let list = """
        {"data": {"user": {"id": "me", "todos": {"edges": [{"node":
          {"__typename": "Todo", "id": "1", "text": "Buy a unicorn", "complete": false}}]}}}}
        """
    private static let ticked = """
        {"data": {"changeTodoStatus": {"todo": {"id": "1", "complete": true}}}}
        """

    @Test func enterTicksATodo() async {
        let environment = MockEnvironment()
        let pilot = Pilot(size: Size(width: 40, height: 6)) {
            TodoScreen().relayEnvironment(environment)
        }
        // A live query goes on after its first result.
        environment.mostRecent?.nextValue(Data(Self.list.utf8))
        await pilot.settle { $0.text.hasPrefix("☐ Buy a unicorn") }

        pilot.press(.enter)
        #expect(pilot.text.hasPrefix("☑ Buy a unicorn"))
        #expect(pilot.text.hasSuffix("1 in flight"))
        environment.mostRecent?.resolve(Data(Self.ticked.utf8))
        await pilot.settle { $0.text.hasSuffix("q leave") }
        #expect(pilot.text.hasPrefix("☑ Buy a unicorn"))
        pilot.press("q")
        #expect(pilot.hasLeft)
    }
}
