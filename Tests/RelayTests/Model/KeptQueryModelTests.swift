import BoundedTesting
import Foundation
import OpenCombine
@_spi(Rooms) import RelayStore
import Testing
import TodoFixtures

@testable import Relay

/// Kept queries over many runs of a program, against a model of them: what is kept, fetched, named, collected and found
/// again, at random.
///
/// ``ModelRounds`` says how many rounds, and how one is repeated.
@Suite(.bounded, .timeLimit(.minutes(30)))
struct KeptQueryModelTests {
    @Test func keptQueriesAgreeWithTheirModel() async {
        await ModelRounds.run { seed in
            var program = Program(seed: seed)
            do {
                for _ in 0..<40 { try program.step() }
            } catch {
                let trace = program.trace.joined(separator: ", ")
                throw Mismatch(description: "\(error) after \(trace)")
            }
        }
    }

    private struct Mismatch: Error, CustomStringConvertible {
        let description: String
    }

    /// A todo, and what is known of its query.
    private struct Todo {
        var text: String?
        var isKept = false
        var isNamed = false
        var isFetchedInThisRun = false
        var wasFetchedWhileKept = false

        var content: KeptQuery.Content {
            if !isNamed { return .unnamed }
            if text == nil { return .incomplete }
            return isFetchedInThisRun ? .complete : .cached
        }
    }

    private struct Program {
        private var random: SeededGenerator
        private var environment: Environment
        private var todos = [Todo](repeating: Todo(), count: 4)
        /// Places of what is kept, in the order in which it was.
        private var order: [Int] = []
        private var count = 0
        private(set) var trace: [String] = []

        init(seed: UInt64) {
            random = SeededGenerator(seed: seed)
            environment = Self.run(RelayStore.Snapshot())
        }

        /// A run of the program. Nothing is collected but where a step says so.
        private static func run(_ records: RelayStore.Snapshot) -> Environment {
            var options = StoreOptions()
            options.schedule = { _ in }
            options.releaseBufferSize = 0
            return Environment(network: MockNetwork(), store: Store(records, options: options))
        }

        private func query(_ place: Int) -> TodoQuery { TodoQuery(id: "T\(place)") }

        private var network: MockNetwork? { environment.network as? MockNetwork }

        mutating func step() throws {
            let place = Int.random(in: 0..<todos.count, using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<3: try keep(place)
            case 3: try stopKeeping(place)
            case 4..<7: try fetch(place)
            case 7: try update(place)
            case 8..<10: collect()
            default: try restart()
            }
            try compare()
        }

        private mutating func keep(_ place: Int) throws {
            trace.append("keep \(place)")
            try environment.keep(query(place))
            if !todos[place].isKept { order.append(place) }
            todos[place].isKept = true
            todos[place].isNamed = true
        }

        private mutating func stopKeeping(_ place: Int) throws {
            trace.append("stop keeping \(place)")
            try environment.stopKeeping(query(place))
            order.removeAll { $0 == place }
            let text = todos[place].text
            todos[place] = Todo()
            todos[place].text = text
        }

        private mutating func fetch(_ place: Int) throws {
            trace.append("fetch \(place)")
            count += 1
            let fetched = Collected(environment.fetchQuery(query(place)))
            network?.requests.first?
                .resolve(Payloads.todo("T\(place)", "text \(count)", complete: true))
            guard fetched.isFinished else { throw Mismatch(description: "the fetch has not ended") }
            todos[place].text = "text \(count)"
            guard todos[place].isNamed else { return }
            todos[place].isFetchedInThisRun = true
            todos[place].wasFetchedWhileKept = true
        }

        private mutating func update(_ place: Int) throws {
            guard todos[place].text != nil else { return }
            trace.append("update \(place)")
            count += 1
            let text = "text \(count)"
            try environment.commitUpdate { $0[DataID("T\(place)")]?["text"] = text }
            todos[place].text = text
        }

        private mutating func collect() {
            trace.append("collect")
            environment.store.collectGarbage()
            // Queries that are not named hold it back.
            if todos.contains(where: { $0.isKept && !$0.isNamed }) { return }
            for place in todos.indices where !todos[place].isKept { todos[place].text = nil }
        }

        private mutating func restart() throws {
            trace.append("restart")
            environment = Self.run(try environment.store.confirmed)
            for place in todos.indices {
                todos[place].isNamed = false
                todos[place].isFetchedInThisRun = false
            }
        }

        private func compare() throws {
            let kept = environment.keptQueries
            let expected = order.map { place in
                "T\(place) \(todos[place].content) \(todos[place].wasFetchedWhileKept)"
            }
            let found = kept.map { query in
                "\(query.variables["id"]?.stringValue ?? "?") \(query.content) \(query.fetchedAt != nil)"
            }
            guard found == expected else {
                throw Mismatch(description: "\(found) are kept, not \(expected)")
            }
            for (place, todo) in todos.enumerated() {
                let text = environment.store.snapshotText(of: "T\(place)", "text")
                guard text == todo.text else {
                    throw Mismatch(
                        description: "T\(place) is \(text ?? "gone"), not \(todo.text ?? "gone")")
                }
            }
        }
    }
}
