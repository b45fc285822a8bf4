import Foundation
import Testing

@testable import RelayStore

@Suite(.bounded) struct ShapeTests {
    /// Each shape keeps those that grew out of it. They must not let go of each other from within each other: a
    /// store goes on whichever thread had it last, and that may have a small stack.
    @Test func aLongChainOfShapesGoesWithoutAStackOfItsLength() async {
        await withCheckedContinuation { isGone in
            let thread = Thread {
                var draft = Draft(on: Snapshot(), keepsPayloads: false)
                for number in 0..<3_000 {
                    draft.write("a", type: "Todo", fields: [("field\(number)", .int(1))])
                }
                _ = consume draft
                isGone.resume()
            }
            thread.stackSize = 256 << 10
            thread.start()
        }
    }
}
