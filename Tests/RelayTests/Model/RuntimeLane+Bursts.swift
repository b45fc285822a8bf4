import OpenCombine
import Relay
@_spi(Rooms) import RelayStore
import TodoFixtures

// Several responses at once: events of one subscription or of two, answers among them, ends.

extension RuntimeLane {
    func burst() throws {
        note("a burst of")
        var arrivals: [Arrival] = []
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            switch Int.random(in: 0..<8, using: &random) {
            case 0...1 where !pending.isEmpty:
                let place = Int.random(in: pending.indices, using: &random)
                arrivals.append(arrival(answering: pending.remove(at: place)))
            case 2: arrivals += try additions()
            case 3: arrivals += try removals()
            default: arrivals.append(event())
            }
        }
        // What stands together is one step.
        var together: [Arrival] = []
        func step() {
            committing {
            } model: {
                for arrival in together { arrival.model() }
            }
            together = []
        }
        for arrival in arrivals {
            if arrival.isStep { step() }
            together.append(arrival)
            if arrival.isStep { step() }
        }
        step()
        ResponseBurst.gather { for arrival in arrivals { arrival.give() } }
    }

    /// An event of the lane's subscription, whose updater may delete another record.
    private func event() -> Arrival {
        let place = Int.random(in: todos.indices, using: &random)
        var (text, buried): (String, Int?) = ("e\(next())", nil)
        if Int.random(in: 0..<3, using: &random) == 0 {
            let other = Int.random(in: todos.indices, using: &random)
            text += " buries \(todos[other].id)"
            buried = other
        }
        let (arrival, line) = added(text, place, to: eventRequest)
        expectedEvents.append(line)
        return Arrival(give: arrival.give) { [self] in
            arrival.model()
            if let buried { confirm([.delete], on: buried) }
        }
    }

    private func added(
        _ text: String, _ place: Int, to request: LaneNetwork.Request
    ) -> (Arrival, line: String) {
        let (id, complete) = (todos[place].id, Bool.random(using: &random))
        let line = "todo \(id) \(text) \(complete)"
        note("  the event \(line)")
        let arrival = Arrival {
            request.send(
                """
                {"data":{"todoAdded":{"todo":{"id":"\(id)","text":"\(text)","complete":\(complete)}}}}
                """)
        } model: { [self] in
            confirm([.text(text), .complete(complete)], on: place)
        }
        return (arrival, line)
    }

    // MARK: Subscriptions that end in the same burst

    /// Another subscription to the same: the server ends it, or its updater throws.
    private func additions() throws -> [Arrival] {
        let (outcomes, made) = asking {
            Outcomes(
                environment.requestSubscription(TodoAddedSubscription()) { _, data in
                    let todo = data?.get(SelectorData?.self, "todoAdded")?
                        .get(SelectorData?.self, "todo")
                    if todo?.get(String?.self, "text") == "refused" { throw ModelUpdater.Refusal() }
                }
            ) { Self.line($0?.todoAdded?.todo) }
        }
        try require(made.count == 1, "\(made.count) requests were made for a subscription")
        var (arrivals, lines): ([Arrival], [String]) = ([], [])
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            let place = Int.random(in: todos.indices, using: &random)
            let (arrival, line) = added("s\(next())", place, to: made[0])
            arrivals.append(arrival)
            lines.append(line)
        }
        if Bool.random(using: &random) {
            // Nothing of the event remains, and the subscription fails.
            let place = Int.random(in: todos.indices, using: &random)
            arrivals.append(Arrival(give: added("refused", place, to: made[0]).0.give))
            lines.append("failed")
        } else {
            arrivals.append(end(made[0]))
            lines.append("finished")
        }
        expectations.append((outcomes, lines))
        return arrivals
    }

    /// A subscription whose events delete records.
    private func removals() throws -> [Arrival] {
        let (outcomes, made) = asking {
            Outcomes(environment.requestSubscription(TodoRemovedSubscription())) {
                $0?.todoRemoved.map { "removed \($0.deletedTodoId)" } ?? "null"
            }
        }
        try require(made.count == 1, "\(made.count) requests were made for a subscription")
        var (arrivals, lines): ([Arrival], [String]) = ([], [])
        for _ in 0..<Int.random(in: 1...2, using: &random) {
            let place = Int.random(in: todos.indices, using: &random)
            let id = todos[place].id
            note("  the event that \(id) is removed")
            arrivals.append(
                Arrival {
                    made[0].send(#"{"data":{"todoRemoved":{"deletedTodoId":"\#(id)"}}}"#)
                } model: { [self] in
                    confirm([.delete], on: place)
                })
            lines.append("removed \(id)")
        }
        expectations.append((outcomes, lines + ["finished"]))
        return arrivals + [end(made[0])]
    }

    private func end(_ request: LaneNetwork.Request) -> Arrival {
        note("  an end")
        return Arrival { request.complete() }
    }
}
