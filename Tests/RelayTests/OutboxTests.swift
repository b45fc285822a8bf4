import Testing

@testable import Relay

@Suite struct OutboxTests {
    @Test func manyThatEndAtOnceDoNotFillTheStack() {
        let outbox = Outbox()
        var order: [Int] = []
        outbox.resume(
            (0..<200_000).map { number in
                { ended in
                    order.append(number); ended()
                }
            })
        #expect(order.count == 200_000)
        #expect(order == order.sorted())
        var isSent = false
        outbox.behindUnfinished { _ in isSent = true }
        #expect(isSent)
    }

    @Test func atTheBoundFurtherMutationsFail() {
        let outbox = Outbox(limit: 2)
        var end: (() -> Void)?
        outbox.resume([{ end = $0 }])
        var said: [String] = []
        for name in ["a", "b", "c"] {
            outbox.behindUnfinished { refusal in
                switch refusal {
                case .full(let limit): said.append("\(name) full \(limit)")
                case .unkept: said.append("\(name) unkept")
                case nil: said.append("\(name) sent")
                }
            }
        }
        #expect(said == ["c full 2"])
        end?()
        #expect(said == ["c full 2", "a sent", "b sent"])
    }
}
