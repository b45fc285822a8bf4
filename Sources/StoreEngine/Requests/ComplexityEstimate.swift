import GraphQLLanguage
import RelayJSON

/// How many fields the result of an operation may have, told from its text and its variables.
///
/// Every field counts one; those inside a list count once for each of its items. A list under a field with
/// `first` or `last`, as the edges of a connection are, is taken to be as long as these say; `nodes(ids:)`
/// is as long as its argument; any other list is taken to have the assumed length. No list is taken to be
/// empty: what is below it counts at least once. The lists of introspection count as one item: their lengths
/// are bounded by the schema and the limit on their depth. What `@skip` leaves out counts.
///
/// Built once for an operation; evaluating it takes time linear in the document, however often its
/// fragments are spread.
struct ComplexityEstimate: Sendable {
    /// One selection set. Its children stand before it.
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
            /// A field that is one object; the size is that of the lists right in it.
            case object(ListSize)
            /// A field that is a list and says its size itself.
            case list(ListSize)
            /// A field that is a list, as long as the field around it says.
            case page
        }
    }

    private let nodes: [Node]
    private let assumedListSize: Int
    /// The count, where no variable has a say in it and no bound is set.
    private var constant: Int?

    /// - Parameter operation: of `document`, which is valid.
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
    ///   - variables: as the request gives them.
    ///   - longestList: no list is taken to be longer.
    /// - Returns: at most `Int.max`, however many there would be.
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

    /// Fields of an object: those that are there once, and those for each item of the lists in it.
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

/// How long a list will be, as the arguments of a field say.
struct ListSize: Sendable {
    /// What may be given and says nothing otherwise; the smallest of those given counts.
    let sources: [Source]

    enum Source: Sendable {
        case number(Int)
        /// A variable, which may be a number or a list; and its value when the request gives none.
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
                // Int coercion takes whole numbers with a fraction of zero.
                case .double(let number)?: return Int(exactly: number)
                case .array(let items)?: return items.count
                default: return nil
                }
            }
        }.min().map { max($0, 1) }
    }
}

/// Makes the nodes of an estimate; each fragment becomes one.
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

    /// What a field says about the length of lists; nil when it has no such arguments.
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
    /// The number that is written, or how many items are. A number beyond all bounds is the largest.
    fileprivate var listSize: Int? {
        switch kind {
        case .int(let digits): Int(digits) ?? (digits.hasPrefix("-") ? 0 : .max)
        case .list(let items): items.count
        default: nil
        }
    }
}

extension Int {
    /// Multiplies two numbers that are not negative; what is too large becomes `Int.max`.
    fileprivate func times(_ other: Int) -> Int {
        let (product, overflows) = multipliedReportingOverflow(by: other)
        return overflows ? .max : product
    }

    fileprivate mutating func add(_ other: Int) {
        let (sum, overflows) = addingReportingOverflow(other)
        self = overflows ? .max : sum
    }
}
