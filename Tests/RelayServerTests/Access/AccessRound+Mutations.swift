import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords

@testable import StoreEngine

// What mutations do, and who is told.

extension AccessRound {
    mutating func mutate() async throws {
        let mutation = generator.mutation(model)
        let person = generator.chance(3) ? nil : generator.pick(people)
        let recordType =
            ["put", "cut", "move"].contains(mutation.kind)
            ? generator.target(mutation.type, "conn") : mutation.type
        let fields = generator.selection(of: recordType, 1, model)
        let text = "mutation { \(mutation.text(selecting: fields)) }"
        let what = "\(text)\nby \(person.map { "\($0)" } ?? "root")"
        let before = model
        let eventCount = engine.eventCount
        let answer = try await engine.run(text, as: person.map(identity) ?? .unrestricted)
        // Which id a new record gets is none of the rules' business: those of refused ones may be used again.
        let newID = (1...engine.madeIDs + 1).lazy.map { "\(mutation.type)-\($0)" }.first {
            engine.service.snapshot.existing($0) != nil && before.record($0) == nil
        }
        let verdict = model.verdict(
            on: mutation, by: person, generator, newID: newID ?? "\(mutation.type)-new")
        let code = answer["errors"]?.array?.first.map {
            $0["path"]?.array?.count == 1 ? $0["extensions"]?["code"]?.string ?? "none" : ""
        }
        let refusal = code.flatMap { $0.isEmpty ? nil : $0 }
        func fail(_ text: String) -> Difference {
            Difference(
                text: """
                    \(what): \(text)
                    \(answer.text)
                    \(generator.sdl(isOpen: false))
                    \(before.seed)
                    """)
        }
        switch verdict {
        case .refused(let codes):
            figures.count("refused")
            guard let refusal, codes.contains(refusal) else { throw fail("expected \(codes)") }
            if engine.eventCount != eventCount { throw fail("it left a trace") }
            try await compareEvents(nil, "", before)
        case .done(let after, let subject):
            figures.count("done")
            if refusal != nil { throw fail("expected to be done") }
            model = after
            let path: [JSONValue] = [
                .string(mutation.name), mutation.kind == "del" ? "deletedId" : "record",
            ]
            if mutation.kind == "del" {
                if answer["data"]?[mutation.name]?["deletedId"] != .string(subject) {
                    throw fail("expected the id")
                }
            } else if let person {
                try compare(
                    answer, path, of: subject, recordType, fields, person, what)
            }
            try await compareEvents(mutation, subject, before)
        }
    }

    /// A record in a payload is what a look-up would be answered.
    func compare(
        _ answer: JSONValue, _ path: [JSONValue], of id: String, _ type: String,
        _ fields: [AccessSelection], _ person: AccessModel.Person, _ what: String
    ) throws {
        let text = "{ by\(type)(key: \"\(id)\") { \(Self.text(fields)) } }"
        let answered = try UnruledStore(open, model.left(for: person, generator.rules)).answer(text)
        var expectation = expectation(person, model)
        let record = expectation.record(
            answered["data"]?["by\(type)"] ?? .null, [type: fields], path)
        let field = path[0].string ?? ""
        let expected: JSONValue = .object(
            JSONObject([(field, .object(JSONObject([("record", record)])))]))
        var plain = AccessSelection.Expectation(isHidden: { _, _ in false }, isViewer: true)
        let told = plain.record(
            answer["data"]?[field]?["record"] ?? .null, [type: fields], path)
        let errors = (
            Self.errors(answer).map(\.text).sorted(), expectation.errors.map(\.text).sorted()
        )
        if told == record, errors.0 == errors.1 { return }
        throw Difference(
            text: """
                payload of \(what)
                told:     \(answer.text)
                expected: \(expected.text)
                errors:   \(errors.1)
                \(generator.sdl(isOpen: false))
                \(model.seed)
                """)
    }

    /// - Parameter mutation: nil if it was refused.
    mutating func compareEvents(
        _ mutation: AccessMutation?, _ subject: String, _ before: AccessModel
    ) async throws {
        try await engine.everyPublication()
        for index in events.indices {
            let stream = events[index]
            let all = engine.resultsSoFar(of: stream.sink)
            let told = all[stream.seen...]
            events[index].seen = all.count
            let isTold: Bool
            if let mutation, mutation.type == stream.type,
                mutation.kind == (stream.isDeletion ? "del" : "set")
            {
                isTold = (stream.isDeletion ? before : model).sees(
                    stream.person, subject, generator.rules)
            } else {
                isTold = false
            }
            let what =
                "an event\(stream.isDeletion ? " of a deletion" : "") of \(stream.type) to \(stream.person)"
            guard told.count == (isTold ? 1 : 0) else {
                throw Difference(
                    text: """
                        \(what): \(told.map(\.text)) of \(mutation?.name ?? "none") of \(subject)
                        \(generator.sdl(isOpen: false))
                        \(before.seed)
                        """)
            }
            guard let event = told.first else { continue }
            figures.count("events")
            if stream.isDeletion { continue }
            try compare(
                event, [.string("changed\(stream.type)"), "record"], of: subject, stream.type,
                stream.fields, stream.person, what)
        }
    }
}
