import Console
import EventStore
import GraphQLExecution
import RelayJSON

/// How an explanation of access is printed.
struct AccessForm {
    private let record: String
    private let explanation: AccessExplanation

    init(record: String, _ explanation: AccessExplanation) {
        self.record = record
        self.explanation = explanation
    }

    // MARK: For people

    func lines(for identity: Identity) -> [String] {
        let asker = identity.viewerID.map { "viewer \($0)" } ?? "someone who is not logged in"
        let lines =
            ["\(explanation.type) \(record), \(asker)"]
            + explanation.entries.flatMap { entry in
                [entry.subject.name.padded(to: 16) + outcome(of: entry)] + rule(of: entry)
            }
        return lines.map(\.printable)
    }

    private func outcome(of entry: AccessExplanation.Entry) -> String {
        let type = explanation.type
        let reason: String? =
            if entry.isHidden {
                "the record does not exist for them"
            } else {
                switch entry.reason {
                case .rule: nil
                case .openByDefault: "\(type) has no @access, and the schema @access(default: OPEN)"
                case .closedByDefault: "\(type) has no @access"
                case .unstated: "@access of \(type) does not say who may \(entry.subject.name)"
                }
            }
        return entry.verdict.decision + (reason.map { ": \($0)" } ?? "")
    }

    private func rule(of entry: AccessExplanation.Entry) -> [String] {
        guard case .rule(let rule) = entry.reason else { return [] }
        return lines(rule, indent: "    ")
    }

    private func lines(_ rule: ExplainedRule, indent: String) -> [String] {
        let parts: [ExplainedRule]
        let text: String
        switch rule.content {
        case .all(let rules): (text, parts) = ("all", rules)
        case .any(let rules): (text, parts) = ("any", rules)
        case .not(let rule): (text, parts) = ("not", [rule])
        case .claim(let name, let value, let found):
            (text, parts) = ("claim \(name) is \(value.text)", [])
            return [
                indent + text + ": \(rule.verdict.word): \(found?.text ?? "there is no such claim")"
            ]
        case .viewer: (text, parts) = ("somebody is logged in", [])
        case .handler(let name): (text, parts) = ("handler \"\(name)\"", [])
        case .field(let finding):
            return [indent + "field \(finding.claim): \(rule.verdict.word): \(finding.found)"]
        }
        return [indent + text + ": \(rule.verdict.word)"]
            + parts.flatMap { lines($0, indent: indent + "    ") }
    }

    // MARK: For programs

    /// One object for each action and field.
    var json: [JSONValue] {
        explanation.entries.map { entry in
            var object = JSONObject(present: [
                "record": .string(record), "type": .string(explanation.type),
            ])
            switch entry.subject {
            case .action(let action): object["action"] = .string(action.rawValue)
            case .field(let name):
                object["action"] = "read"
                object["field"] = .string(name)
            }
            object["decision"] = .string(entry.verdict.name)
            object["visible"] = entry.isHidden ? false : nil
            switch entry.reason {
            case .rule(let rule): object["rule"] = .object(json(rule))
            case .openByDefault: object["default"] = "OPEN"
            case .closedByDefault, .unstated: object["default"] = "CLOSED"
            }
            return .object(object)
        }
    }

    private func json(_ rule: ExplainedRule) -> JSONObject {
        func objects(_ rules: [ExplainedRule]) -> JSONValue {
            .array(rules.map { .object(json($0)) })
        }
        var object: JSONObject = ["met": rule.verdict.json]
        switch rule.content {
        case .all(let rules): object["all"] = objects(rules)
        case .any(let rules): object["any"] = objects(rules)
        case .not(let rule): object["not"] = .object(json(rule))
        case .viewer: object["viewer"] = true
        case .handler(let name): object["handler"] = .string(name)
        case .claim(let name, let value, let found):
            object["claim"] = .string(name)
            object["expected"] = value
            object["found"] = found
        case .field(let finding):
            object["field"] = .string(finding.path.joined(separator: "."))
            object["expected"] = finding.expectedJSON
            object["found"] = finding.value
            object["leftOut"] = finding.leftOut == 0 ? nil : .int(Int64(finding.leftOut))
            object["of"] = finding.linked.map { .string($0) }
            object["dangling"] = finding.isDangling ? true : nil
        }
        return object
    }
}

extension AccessExplanation.Subject {
    fileprivate var name: String {
        switch self {
        case .action(let action): action.rawValue
        case .field(let name): name
        }
    }
}

extension AccessExplanation.Verdict {
    fileprivate var name: String {
        switch self {
        case .yes: "allowed"
        case .no: "denied"
        case .undecided: "undecided"
        }
    }

    fileprivate var decision: String {
        self == .undecided ? "decided by the program's code" : name
    }

    fileprivate var word: String {
        switch self {
        case .yes: "yes"
        case .no: "no"
        case .undecided: "decided by the program's code"
        }
    }

    /// Null if it is not known.
    fileprivate var json: JSONValue {
        switch self {
        case .yes: true
        case .no: false
        case .undecided: .null
        }
    }
}

extension FieldFinding {
    /// What the rule says.
    fileprivate var claim: String {
        let verb = isList ? "contains" : "is"
        let expected =
            switch expectation {
            case .value(let value): "\(verb) \(value.text)"
            case .viewer(let id):
                "\(verb) \"$viewer\" (\(id.map { JSONValue.string($0).text } ?? "nobody"))"
            case .claim(let name, let values):
                "\(verb) \"$claim.\(name)\" (\(values.isEmpty ? "no such claim" : values.list))"
            case .record: "leads to a record"
            }
        return path.joined(separator: ".") + " " + expected
    }

    /// What there is.
    fileprivate var found: String {
        var text = value?.text ?? "not set"
        if leftOut > 0 { text += " and \(leftOut) more" }
        if isDangling { text += ", which does not exist" }
        if let linked { text += " in \(linked)" }
        return text
    }

    fileprivate var expectedJSON: JSONValue {
        switch expectation {
        case .value(let value): value
        case .viewer: "$viewer"
        case .claim(let name, _): .string("$claim.\(name)")
        case .record: ["record": true]
        }
    }
}

extension [JSONValue] {
    fileprivate var list: String { map(\.text).joined(separator: ", ") }
}
