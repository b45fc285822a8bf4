import GraphQLLanguage
import RelayJSON

/// Estimates how many fields the result of an operation may have, from its text and variables.
///
/// Every field counts once; fields inside a list count once per item. A list under a field with `first` or
/// `last`, such as the edges of a connection, is assumed to have that length. `nodes(ids:)` is as long as its
/// argument. Any other list is assumed to have the default length. No list is assumed to be empty: everything
/// below it counts at least once. Introspection lists count as one item, because the schema and the limit on
/// their depth bound their length. Fields excluded by `@skip` count.
///
/// Built once per operation. Evaluation is linear in the size of the document, however often its fragments
/// are spread.
struct ComplexityEstimate: Sendable {
    /// One selection set. Its children come before it.
    fileprivate struct Node: Sendable {
        var fields = 0
        var terms: [Term] = []
    }

    fileprivate struct Term: Sendable {
        let kind: Kind
        let child: Int

        enum Kind: Sendable {
            /// A fragment: part of the same object.
            case fragment
            /// A field that is one object; the size applies to the lists directly inside it.
            case object(ListSize)
            /// A list field with its own size.
            case list(ListSize)
            /// A list field whose length is set by the enclosing field.
            case page
        }
    }

    private let nodes: [Node]
    private let assumedListSize: Int
    /// The count, if it depends on no variable and no bound is set.
    private var constant: Int?

    /// - Parameter operation: of `document`, which must be valid.
    init(
        _ operation: OperationDefinition, in document: Document, schema: Schema,
        assumedListSize: Int
    ) {
        var builder = ComplexityBuilder(operation, document, schema)
        builder.build()
        nodes = builder.nodes
        self.assumedListSize = assumedListSize
        if !builder.usesVariables { constant = fieldCount([:]) }
    }

    /// - Parameters:
    ///   - variables: as given by the request.
    ///   - longestList: no list is assumed to be longer.
    /// - Returns: the count, saturated at `Int.max`.
    func fieldCount(_ variables: JSONObject, longestList: Int = .max) -> Int {
        if let constant, longestList == .max { return constant }
        var counts: [Count] = []
        counts.reserveCapacity(nodes.count)
        func size(_ list: ListSize) -> Int {
            min(list.value(variables) ?? assumedListSize, longestList)
        }
        let assumed = min(assumedListSize, longestList)
        for node in nodes {
            var count = Count(once: node.fields, perItem: 0)
            for term in node.terms {
                let child = counts[term.child]
                switch term.kind {
                case .fragment:
                    count.once.add(child.once)
                    count.perItem.add(child.perItem)
                case .object(let list):
                    count.once.add(child.total(size(list)))
                case .list(let list):
                    count.once.add(child.total(assumed).times(size(list)))
                case .page:
                    count.perItem.add(child.total(assumed))
                }
            }
            counts.append(count)
        }
        return counts.last?.total(assumed) ?? 0
    }

    /// Fields of an object: those that occur once, and those that occur once per item of its lists.
    private struct Count {
        var once: Int
        var perItem: Int

        func total(_ listSize: Int) -> Int {
            var total = perItem.times(listSize)
            total.add(once)
            return total
        }
    }
}

/// The length of a list, according to a field's arguments.
struct ListSize: Sendable {
    /// The possible sources; a source without a value is ignored, and the smallest value counts.
    let sources: [Source]

    enum Source: Sendable {
        case number(Int)
        /// A variable, which may be a number or a list, with its value when the request gives none.
        case variable(String, fallback: Int?)
    }

    fileprivate func value(_ variables: JSONObject) -> Int? {
        sources.compactMap { source -> Int? in
            switch source {
            case .number(let number): return number
            case .variable(let name, let fallback):
                switch variables[name] {
                case nil: return fallback
                case .int(let number)?: return Int(clamping: number)
                // Int coercion accepts numbers with a zero fraction.
                case .double(let number)?: return Int(exactly: number)
                case .array(let items)?: return items.count
                default: return nil
                }
            }
        }.min().map { max($0, 1) }
    }
}

/// Builds the nodes of an estimate, one per selection set; a fragment's node is shared.
private struct ComplexityBuilder {
    private(set) var nodes: [ComplexityEstimate.Node] = []
    private(set) var usesVariables = false
    private let operation: OperationDefinition
    private let schema: Schema
    private let fragments: [String: FragmentDefinition]
    private let variableDefaults: [String: Value]
    private var fragmentNodes: [String: Int] = [:]

    init(_ operation: OperationDefinition, _ document: Document, _ schema: Schema) {
        self.operation = operation
        self.schema = schema
        fragments = Dictionary(
            document.fragments.map { ($0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
        variableDefaults = Dictionary(
            operation.variables.compactMap { variable in
                variable.defaultValue.map { (variable.name.value, $0) }
            }, uniquingKeysWith: { first, _ in first })
    }

    mutating func build() {
        guard let root = schema.rootType(of: operation.operation) else { return }
        _ = add(operation.selectionSet, on: root)
    }

    private mutating func add(_ selectionSet: SelectionSet, on type: NamedType) -> Int {
        var node = ComplexityEstimate.Node()
        for selection in selectionSet.selections {
            switch selection {
            case .field(let field):
                add(field, on: type, to: &node)
            case .inlineFragment(let fragment):
                let condition = fragment.typeCondition.flatMap { schema.type(named: $0.value) }
                let child = add(fragment.selectionSet, on: condition ?? type)
                node.terms.append(.init(kind: .fragment, child: child))
            case .fragmentSpread(let spread):
                guard let child = addFragment(spread.name.value) else { continue }
                node.terms.append(.init(kind: .fragment, child: child))
            }
        }
        nodes.append(node)
        return nodes.count - 1
    }

    private mutating func addFragment(_ name: String) -> Int? {
        if let known = fragmentNodes[name] { return known }
        guard let fragment = fragments[name],
            let type = schema.type(named: fragment.typeCondition.value)
        else { return nil }
        let node = add(fragment.selectionSet, on: type)
        fragmentNodes[name] = node
        return node
    }

    private mutating func add(
        _ field: Field, on type: NamedType, to node: inout ComplexityEstimate.Node
    ) {
        guard let definition = schema.field(field.name.value, on: type) else { return }
        node.fields += 1
        guard let selectionSet = field.selectionSet else { return }
        let child = add(selectionSet, on: schema[definition.namedType])
        let size = size(field, definition, on: type)
        let kind: ComplexityEstimate.Term.Kind =
            switch (definition.type.listItem, size) {
            case (nil, let size): .object(size ?? ListSize(sources: []))
            case (_?, let size?): .list(size)
            case (_?, nil): .page
            }
        node.terms.append(.init(kind: kind, child: child))
    }

    /// The list length that a field's arguments give; nil when it has no such arguments.
    private mutating func size(
        _ field: Field, _ definition: SchemaField, on type: NamedType
    ) -> ListSize? {
        if type.origin == .builtIn { return ListSize(sources: [.number(1)]) }
        let names = ["first", "last", "ids"].filter { definition.argument($0) != nil }
        if names.isEmpty { return nil }
        var sources: [ListSize.Source] = []
        for name in names {
            let given = field.arguments.first { $0.name.value == name }?.value
            guard let value = given ?? definition.argument(name)?.defaultValue,
                let source = source(value)
            else { continue }
            sources.append(source)
        }
        return ListSize(sources: sources)
    }

    private mutating func source(_ value: Value) -> ListSize.Source? {
        if case .variable(let name) = value.kind {
            usesVariables = true
            return .variable(name, fallback: variableDefaults[name].flatMap(\.listSize))
        }
        return value.listSize.map(ListSize.Source.number)
    }
}

extension Value {
    /// The literal number, or the number of items. A number too large for `Int` becomes `Int.max`.
    fileprivate var listSize: Int? {
        switch kind {
        case .int(let digits): Int(digits) ?? (digits.hasPrefix("-") ? 0 : .max)
        case .list(let items): items.count
        default: nil
        }
    }
}

extension Int {
    /// Multiplies two non-negative numbers, saturating at `Int.max`.
    fileprivate func times(_ other: Int) -> Int {
        let (product, overflows) = multipliedReportingOverflow(by: other)
        return overflows ? .max : product
    }

    fileprivate mutating func add(_ other: Int) {
        let (sum, overflows) = addingReportingOverflow(other)
        self = overflows ? .max : sum
    }
}
