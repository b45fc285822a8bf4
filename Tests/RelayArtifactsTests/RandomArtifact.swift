import BoundedTesting
import RelayArtifacts

/// Nodes of all kinds, with parts that are there or not, in any combination.
struct RandomArtifact {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func request() -> ConcreteRequest {
        let fragment = fragment()
        let isUsual = flag()
        let text = optional { $0.text() }
        return ConcreteRequest(
            fragment: fragment,
            operation: NormalizationOperation(
                name: isUsual ? fragment.name : self.text(),
                argumentDefinitions: isUsual
                    ? fragment.argumentDefinitions : list { $0.definition() },
                selections: list { $0.normalization(3) }, nullArguments: list { $0.text() }),
            params: RequestParameters(
                name: flag() ? fragment.name : self.text(),
                operationKind: random.pick([.query, .mutation, .subscription]), text: text,
                id: text == nil ? self.text() : nil))
    }

    mutating func fragment() -> ReaderFragment {
        let type = type()
        return ReaderFragment(
            name: text(), type: type.name, abstractKey: type.key, possibleTypes: type.possible,
            argumentDefinitions: list { $0.definition() },
            metadata: flag() ? ReaderMetadata() : metadata(), selections: list { $0.reader(3) })
    }

    // MARK: Parts

    private mutating func flag() -> Bool { random.below(2) == 0 }

    private mutating func optional<T>(_ make: (inout Self) -> T) -> T? {
        flag() ? make(&self) : nil
    }

    private mutating func list<T>(_ make: (inout Self) -> T) -> [T] {
        (0..<random.below(4)).map { _ in make(&self) }
    }

    private mutating func text() -> String {
        random.pick([
            "id", "user", "todos", "", "a\"b\\c", "two\nlines", "grüße", "e\u{301}", "🙂", "#\"#",
            "__isNode", "\u{0}", "a longer text that is not kept inline",
        ])
    }

    private mutating func type() -> (name: String, key: String?, possible: [String]) {
        let name = random.pick(["User", "Node", "Actor"])
        switch random.below(5) {
        case 0: return (name, "__is" + name, [])
        case 1: return (name, "__is" + name, ["User", "Todo"])
        case 2: return (name, nil, ["User"])
        case 3: return (name, text(), list { $0.text() })
        default: return (name, nil, [])
        }
    }

    private mutating func value(_ depth: Int) -> VariableValue {
        switch random.below(depth > 0 ? 9 : 7) {
        case 0: .null
        case 1: .string(text())
        case 2: .int(random.pick([0, 1, -1, .max, .min, 1_000_000]))
        case 3: .bool(flag())
        case 4: .float(random.pick([0, 1, -0.5, 1e300, .leastNonzeroMagnitude, 0.1, -0.0]))
        case 5: .float(Double(bitPattern: random.next() & ~(0x7FF << 52) | 0x3F0 << 52))
        case 6: .array([])
        case 7: .array(list { $0.value(depth - 1) })
        default:
            .object(
                VariableData(
                    Dictionary(
                        list { ($0.text(), $0.value(depth - 1)) }, uniquingKeysWith: { $1 })))
        }
    }

    private mutating func argument(_ depth: Int) -> any Argument {
        switch random.below(depth > 0 ? 5 : 3) {
        case 0:
            VariableArgument(name: text(), variableName: text(), distinguishesNull: flag())
        case 1: VariableArgument(name: "id", variableName: "id", distinguishesNull: flag())
        case 2: LiteralArgument(name: text(), value: value(2), distinguishesNull: flag())
        case 3: ListValueArgument(name: text(), items: list { $0.argument(depth - 1) })
        default: ObjectValueArgument(name: text(), fields: list { $0.argument(depth - 1) })
        }
    }

    private mutating func arguments() -> [any Argument] { list { $0.argument(2) } }

    private mutating func definition() -> ArgumentDefinition {
        flag()
            ? .root(name: text()) : .local(name: text(), defaultValue: optional { $0.value(2) })
    }

    private mutating func metadata() -> ReaderMetadata {
        ReaderMetadata(
            plural: flag(), catchTo: optional { $0.random.pick([.result, .null]) },
            throwOnFieldError: flag(),
            connections: list {
                ConnectionMetadata(
                    path: $0.list { $0.text() }, backward: $0.optional { $0.paging() },
                    forward: $0.optional { $0.paging() })
            },
            refetch: optional {
                RefetchDescription(
                    operation: $0.text(), path: $0.list { $0.text() },
                    identifierField: $0.optional { $0.text() })
            },
            rootType: optional { $0.text() })
    }

    private mutating func paging() -> ConnectionVariableConfig {
        ConnectionVariableConfig(count: text(), cursor: text())
    }

    private mutating func required() -> RequiredAction? {
        optional { $0.random.pick([.none, .log, .throw]) }
    }

    private mutating func catchTo() -> CatchTarget? {
        optional { $0.random.pick([.result, .null]) }
    }

    // MARK: Selections

    private mutating func reader(_ depth: Int) -> ReaderSelection {
        switch random.below(depth > 0 ? 10 : 3) {
        case 0: return .field(ReaderScalarField(name: text()))
        case 1:
            return .field(
                ReaderScalarField(
                    name: text(), alias: optional { $0.text() }, storageKey: optional { $0.text() },
                    args: arguments(), required: required(), catchTo: catchTo()))
        case 2:
            return .fragmentSpread(ReaderFragmentSpread(name: text(), args: arguments()))
        case 3:
            return .field(
                ReaderLinkedField(
                    name: text(), alias: optional { $0.text() }, storageKey: optional { $0.text() },
                    args: arguments(), concreteType: optional { $0.text() }, plural: flag(),
                    required: required(), catchTo: catchTo(),
                    selections: list { $0.reader(depth - 1) }))
        case 4:
            let type = type()
            return .inlineFragment(
                ReaderInlineFragment(
                    type: type.name, abstractKey: type.key, possibleTypes: type.possible,
                    selections: list { $0.reader(depth - 1) }))
        case 5:
            return .condition(
                ReaderCondition(
                    condition: text(), passingValue: flag(),
                    selections: list { $0.reader(depth - 1) }))
        case 6:
            return .clientExtension(
                ReaderClientExtension(selections: list { $0.reader(depth - 1) }))
        case 7: return .defer(ReaderDefer(selections: list { $0.reader(depth - 1) }))
        case 8:
            let type = type()
            return .alias(
                ReaderAlias(
                    name: text(),
                    fragment: ReaderInlineFragment(
                        type: type.name, abstractKey: type.key, possibleTypes: type.possible,
                        selections: list { $0.reader(depth - 1) }),
                    isAlways: flag()))
        default: return .stream(ReaderStream(selections: list { $0.reader(depth - 1) }))
        }
    }

    private mutating func normalization(_ depth: Int) -> NormalizationSelection {
        switch random.below(depth > 0 ? 10 : 4) {
        case 0: return .field(NormalizationScalarField(name: text()))
        case 1:
            return .field(
                NormalizationScalarField(
                    name: text(), alias: optional { $0.text() }, args: arguments(),
                    storageKey: optional { $0.text() },
                    typeInfo: optional {
                        SelectionTypeInfo(
                            type: $0.text(), plural: $0.flag(), nullable: $0.flag(),
                            enumValues: $0.list { $0.text() })
                    }))
        case 2:
            return .handle(
                NormalizationHandle(
                    kind: flag() ? .scalar : .linked, name: text(), alias: optional { $0.text() },
                    args: arguments(), handle: text(), key: text(),
                    filters: optional { $0.list { $0.text() } }, handleArgs: arguments()))
        case 3:
            return .typeDiscriminator(
                NormalizationTypeDiscriminator(
                    type: "Node", abstractKey: random.pick(["__isNode", "__isOther", ""])))
        case 4:
            return .field(
                NormalizationLinkedField(
                    name: text(), alias: optional { $0.text() }, args: arguments(),
                    storageKey: optional { $0.text() }, concreteType: optional { $0.text() },
                    plural: flag(), selections: list { $0.normalization(depth - 1) }))
        case 5:
            let type = type()
            return .inlineFragment(
                NormalizationInlineFragment(
                    type: type.name, abstractKey: type.key, possibleTypes: type.possible,
                    selections: list { $0.normalization(depth - 1) }))
        case 6:
            return .condition(
                NormalizationCondition(
                    condition: text(), passingValue: flag(),
                    selections: list { $0.normalization(depth - 1) }))
        case 7:
            return .clientExtension(
                NormalizationClientExtension(selections: list { $0.normalization(depth - 1) }))
        default:
            let part = NormalizationPart(
                if: optional { $0.text() }, label: text(),
                selections: list { $0.normalization(depth - 1) })
            return flag() ? .defer(part) : .stream(part)
        }
    }
}
