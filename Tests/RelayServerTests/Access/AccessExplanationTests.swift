import BoundedTesting
import RelayJSON
import Testing

@testable import GraphQLExecution
@_spi(Rooms) @testable import RelayRecords

/// What is explained is what is decided.
@Suite struct AccessExplanationTests {
    private static func snapshot() -> Snapshot {
        var draft = Draft(on: Snapshot(indexes: []))
        for (id, type, fields) in [
            (
                "ann", "Person",
                [
                    ("login", .string("ann")), ("score", .int(3)), ("tags", .json(["a", "b"])),
                ]
            ),
            ("bob", "Person", [("login", .string("bob")), ("boss", .link("ann"))]),
            (
                "shut", "Project",
                [
                    ("name", .string("Shut")), ("public", .bool(false)), ("owner", .link("ann")),
                    ("members", .links(["ann", "bob"])),
                ]
            ),
            (
                "open", "Project",
                [
                    ("name", .string("Open")), ("public", .bool(true)), ("owner", .link("gone")),
                    ("members", .links([])),
                ]
            ),
            (
                "i1", "Issue",
                [
                    ("title", .string("One")), ("open", .bool(true)), ("project", .link("shut")),
                    ("owner", .link("bob")),
                ]
            ),
            (
                "i2", "Issue",
                [
                    ("title", .null), ("open", .bool(false)), ("project", .null),
                    ("owner", .link("ann")),
                ]
            ),
            ("i3", "Issue", [("project", .link("gone"))]),
        ] as [(String, String, [(key: String, value: FieldValue)])] {
            draft.write(DataID(id), type: type, fields: fields)
        }
        return draft.snapshot
    }

    private static let identities: [Identity] = [
        .nobody, .viewer(Viewer(id: "ann")),
        .viewer(Viewer(id: "bob", claimValues: ["roles": "admin"])),
        .viewer(Viewer(id: "eve", claimValues: ["roles": ["editor", "admin"], "friend": "ann"])),
        .viewer(
            Viewer(id: "cid", claimValues: ["roles": [], "friend": ["bob", "ann"], "level": 3])),
    ]

    @Test(arguments: (0..<20).map { _ in UInt64.random(in: 0...UInt64.max) })
    func anExplanationSaysWhatIsDecided(_ seed: UInt64) throws {
        let snapshot = Self.snapshot()
        var rules = RandomRules(seed: seed)
        for _ in 0..<50 {
            let type = ["Person", "Project", "Issue"].randomElement(using: &rules.random) ?? ""
            let made = rules.ofType(type)
            let identity = Self.identities.randomElement(using: &rules.random) ?? .nobody
            for record in snapshot.recordsInCreationOrder()
            where snapshot.type(of: record).map(snapshot.symbols.nameString) == type {
                let explanation = try #require(
                    AccessExplanation(
                        of: record, for: identity, made(false), in: snapshot), "\(seed)")
                for entry in explanation.entries {
                    check(entry, seed)
                    // Whatever the handlers say: if they say nothing, both.
                    let decided = Set(
                        [false, true].map { answer in
                            decide(entry.subject, record, identity, made(answer), snapshot)
                        })
                    switch entry.verdict {
                    case .yes: #expect(decided == [true], "\(seed): \(entry)")
                    case .no: #expect(decided == [false], "\(seed): \(entry)")
                    case .undecided: #expect(entry.asksCode, "\(seed): \(entry)")
                    }
                }
            }
        }
    }

    private func decide(
        _ subject: AccessExplanation.Subject, _ record: RecordIndex, _ identity: Identity,
        _ rules: AccessRules, _ snapshot: Snapshot
    ) -> Bool {
        guard let access = Access(identity, rules, on: snapshot) else { return true }
        let isVisible = access.isVisible(record, for: .lookup)
        switch subject {
        case .action(.read): return isVisible
        case .action(.create): return access.judge(of: snapshot).may(.create, record)
        case .action(let action): return isVisible && access.judge(of: snapshot).may(action, record)
        case .field(let name):
            guard let key = snapshot.symbols.findName(name) else { return isVisible }
            return isVisible && access.mayRead(key, of: record)
        }
    }

    /// Each part has a verdict of its own, and that of the whole follows from these.
    private func check(_ entry: AccessExplanation.Entry, _ seed: UInt64) {
        guard case .rule(let rule) = entry.reason else { return }
        check(rule, seed)
    }

    private func check(_ rule: ExplainedRule, _ seed: UInt64) {
        switch rule.content {
        case .all(let parts):
            let verdicts = Set(parts.map(\.verdict))
            let whole: AccessExplanation.Verdict =
                verdicts.contains(.no) ? .no : verdicts.contains(.undecided) ? .undecided : .yes
            #expect(rule.verdict == whole, "\(seed): \(rule)")
            for part in parts { check(part, seed) }
        case .any(let parts):
            let verdicts = Set(parts.map(\.verdict))
            let whole: AccessExplanation.Verdict =
                verdicts.contains(.yes) ? .yes : verdicts.contains(.undecided) ? .undecided : .no
            #expect(rule.verdict == whole, "\(seed): \(rule)")
            for part in parts { check(part, seed) }
        case .not(let part):
            #expect(
                rule.verdict
                    == (part.verdict == .yes ? .no : part.verdict == .no ? .yes : .undecided),
                "\(seed): \(rule)")
            check(part, seed)
        case .handler: #expect(rule.verdict == .undecided, "\(seed)")
        case .field(let finding):
            #expect(rule.verdict == finding.expectedVerdict, "\(seed): \(rule)")
        case .claim, .viewer: #expect(rule.verdict != .undecided, "\(seed): \(rule)")
        }
    }
}

extension AccessExplanation.Entry {
    /// Whether Swift code is asked somewhere.
    fileprivate var asksCode: Bool {
        guard case .rule(let rule) = reason else { return false }
        return rule.asksCode || isRecordUndecided
    }

    /// That the record exists is undecided, so this is, too.
    private var isRecordUndecided: Bool { subject != .action(.read) && verdict == .undecided }
}

extension ExplainedRule {
    fileprivate var asksCode: Bool {
        switch content {
        case .all(let parts), .any(let parts): parts.contains(where: \.asksCode)
        case .not(let part): part.asksCode
        case .handler: true
        case .claim, .viewer, .field: false
        }
    }
}

extension FieldFinding {
    /// What follows from what is shown of the field: whoever reads the line must come to the same end.
    fileprivate var expectedVerdict: AccessExplanation.Verdict {
        let found = value.map { $0.array ?? [$0] } ?? []
        func holds(_ values: [JSONValue]) -> Bool { values.contains { found.contains($0) } }
        let isMet: Bool =
            switch expectation {
            case .value(.null): value == nil || value == .null || isDangling
            case .value(let expected): holds([expected])
            case .viewer(let id): id.map { holds([.string($0)]) } ?? false
            case .claim(_, let values): holds(values)
            case .record: false
            }
        return isMet ? .yes : .no
    }
}

/// Rules of any form, about the records of the test.
private struct RandomRules {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// The rules of a type, once it is known what handlers answer.
    mutating func ofType(_ type: String) -> (Bool) -> AccessRules {
        var actions: [(AccessAction, (Bool) -> AccessRule)] = []
        for action in AccessAction.allCases where Int.random(in: 0..<5, using: &random) > 0 {
            actions.append((action, rule(about: type, depth: 3)))
        }
        let field = ["title", "name", "login"].randomElement(using: &random) ?? ""
        let fieldRule = rule(about: type, depth: 2)
        return { answer in
            AccessRules(
                isOpenByDefault: false,
                types: [
                    type: .init(
                        actions: Dictionary(
                            uniqueKeysWithValues: actions.map { ($0.0, $0.1(answer)) }),
                        fields: [field: fieldRule(answer)])
                ])
        }
    }

    private mutating func rule(
        about type: String, depth: Int, links: Int = 0
    ) -> (Bool) -> AccessRule {
        let forms = depth == 0 ? 4..<10 : 0..<10
        switch Int.random(in: forms, using: &random) {
        case 0, 1:
            let parts = several(type, depth)
            return { answer in .all(parts.map { $0(answer) }) }
        case 2:
            let parts = several(type, depth)
            return { answer in .any(parts.map { $0(answer) }) }
        case 3:
            let part = rule(about: type, depth: depth - 1)
            return { answer in .not(part(answer)) }
        case 4:
            let (name, value) =
                [
                    ("roles", "admin"), ("roles", "editor"), ("level", 3), ("friend", "ann"),
                ].randomElement(using: &random) ?? ("", JSONValue.null)
            return { _ in .claim(name, value) }
        case 5: return { _ in .viewer }
        case 6 where Int.random(in: 0..<2, using: &random) == 0:
            return { answer in .handler(AccessHandler(name: "code") { _ in answer }) }
        default: return field(of: type, links: links)
        }
    }

    private mutating func several(_ type: String, _ depth: Int) -> [(Bool) -> AccessRule] {
        (0..<Int.random(in: 1...3, using: &random)).map { _ in
            rule(about: type, depth: depth - 1)
        }
    }

    private mutating func field(of type: String, links: Int) -> (Bool) -> AccessRule {
        typealias Test = (String, AccessTest.Content, AccessTest.Expectation)
        var tests: [Test] = [
            ("id", .id, .viewer), ("id", .id, .value("i1")), ("id", .id, .claim("friend")),
        ]
        var behind: [(field: String, type: String)] = []
        switch type {
        case "Person":
            tests += [
                ("login", .leaf, .viewer), ("login", .leaf, .value("bob")),
                ("score", .leaf, .value(3)), ("score", .leaf, .claim("level")),
                ("score", .leaf, .value(.null)), ("tags", .leaf, .value("b")),
                ("boss", .link, .value(.null)), ("boss", .link, .viewer),
            ]
            behind = [("boss", "Person")]
        case "Project":
            tests += [
                ("public", .leaf, .value(true)), ("owner", .link, .viewer),
                ("owner", .link, .value(.null)), ("members", .links, .viewer),
                ("members", .links, .claim("friend")), ("members", .links, .value("ann")),
            ]
            behind = [("owner", "Person")]
        default:
            tests += [
                ("title", .leaf, .value("One")), ("title", .leaf, .value(.null)),
                ("open", .leaf, .value(true)), ("owner", .link, .viewer),
                ("owner", .link, .claim("friend")), ("project", .link, .value("shut")),
                ("project", .link, .value(.null)), ("missing", .leaf, .value(1)),
            ]
            behind = [("owner", "Person"), ("project", "Project")]
        }
        if links < 2, Bool.random(using: &random),
            let (name, linked) = behind.randomElement(using: &random)
        {
            let inner: (Bool) -> AccessRule
            if Bool.random(using: &random) {
                inner = field(of: linked, links: links + 1)
            } else {
                let parts = [
                    field(of: linked, links: links + 1), field(of: linked, links: links + 1),
                ]
                inner = { answer in .all(parts.map { $0(answer) }) }
            }
            return { answer in
                .field(
                    AccessTest(field: name, content: .link, expectation: .behind(inner(answer))))
            }
        }
        let (name, content, expectation) = tests.randomElement(using: &random) ?? tests[0]
        return { _ in
            .field(AccessTest(field: name, content: content, expectation: expectation))
        }
    }
}

extension Access {
    fileprivate func mayRead(_ field: NameIndex, of record: RecordIndex) -> Bool {
        var dependencies: Dependencies?
        return mayRead(field, of: record, &dependencies)
    }
}
