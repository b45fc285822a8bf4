import BoundedTesting
import Foundation
import OpenCombine

@testable import Relay

/// A network with todos, whose texts are words: a mutation adds one. It answers when it is told to, in any order, and
/// is the only one who knows which text is true.
final class SharedTodoServer: Network, @unchecked Sendable {
    // Unchecked: everything is behind the lock.

    /// A request that waits for its answer.
    private struct Waiting {
        let id: String
        /// What a mutation adds.
        let word: String?
        let run: Execution<Data>.Run
    }

    private let lock = NSLock()
    private var waiting: [Waiting] = []
    private var texts: [String: [String]] = [:]
    /// What each mutation was answered with; nil: it was refused.
    private var answers: [String: String?] = [:]

    func execute(
        request: RequestParameters, variables: VariableData, cacheConfig: CacheConfig
    ) -> AnyPublisher<Data, any Error> {
        var (id, word): (VariableValue?, String?) = (variables["id"], nil)
        if case .object(let input)? = variables["input"] {
            id = input["id"]
            if case .string(let text)? = input["text"] { word = text }
        }
        guard case .string(let id)? = id else {
            return Fail(error: URLError(.badURL)).eraseToAnyPublisher()
        }
        return ExecutionPublisher { [self] run in
            lock.withLock { waiting.append(Waiting(id: id, word: word, run: run)) }
            return AnyCancellable {}
        }.eraseToAnyPublisher()
    }

    var isIdle: Bool { lock.withLock { waiting.isEmpty } }

    func words(of id: String) -> [String] { lock.withLock { texts[id] ?? [] } }

    func text(of id: String) -> String { words(of: id).joined(separator: " ") }

    /// What a mutation must have been told.
    func outcome(ofAdding word: String) -> [String] {
        switch lock.withLock({ answers[word] }) {
        case .some(let text?): [text, "finished"]
        case .some(nil): ["failed"]
        case nil: []
        }
    }

    /// Answers some of those who wait, several of them at once.
    func answerSome(_ random: inout SeededGenerator) {
        let isBurst = Bool.random(using: &random)
        let arrivals = (0..<Int.random(in: 1...3, using: &random)).compactMap { _ in
            lock.withLock { next(&random) }
        }
        if isBurst {
            ResponseBurst.gather { for arrival in arrivals { arrival() } }
        } else {
            for arrival in arrivals { arrival() }
        }
    }

    private func next(_ random: inout SeededGenerator) -> (() -> Void)? {
        guard let place = waiting.indices.randomElement(using: &random) else { return nil }
        let asked = waiting.remove(at: place)
        if let word = asked.word {
            if Int.random(in: 0..<4, using: &random) == 0 {
                answers[word] = .some(nil)
                return { asked.run.complete(.failure(URLError(.timedOut))) }
            }
            texts[asked.id, default: []].append(word)
        }
        let text = (texts[asked.id] ?? []).joined(separator: " ")
        var json = Payloads.todo(asked.id, text, complete: true)
        if let word = asked.word {
            answers[word] = text
            json = #"{"data":{"renameTodo":{"todo":{"id":"\#(asked.id)","text":"\#(text)"}}}}"#
        }
        return {
            asked.run.send(Data(json.utf8))
            asked.run.complete(.finished)
        }
    }
}
