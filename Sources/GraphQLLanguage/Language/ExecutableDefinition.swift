// The syntax tree of executable documents (GraphQL §2).
//
// Every node is immutable and knows where it starts as a byte offset, which `Source.location(at:)`
// turns into line and column. Nodes in enums (definitions, selections) are final classes, so that
// the enum is one word and walking a selection set copies no strings; the parts inside them are
// structs.

/// A parsed document (GraphQL §2.2).
package struct Document: Sendable {
    package let source: Source
    package let definitions: [Definition]
    private let tokenCount: Int

    package init(source: Source, definitions: [Definition], tokenCount: Int = 0) {
        self.source = source
        self.definitions = definitions
        self.tokenCount = tokenCount
    }

    /// Approximate memory of a parsed document: its text and its syntax tree.
    package var approximateByteCount: Int { source.bytes.count + 128 * tokenCount }
}

/// Anything allowed at the top level of a document.
package enum Definition: Sendable {
    case operation(OperationDefinition)
    case fragment(FragmentDefinition)
    /// `schema { … }` or `extend schema …`.
    case schema(SchemaDefinition)
    /// A type of any kind, or an extension of one.
    case type(TypeDefinition)
    case directive(DirectiveDefinition)
}

/// A name and its location. `$x` and `@x` are named `x`.
package struct Name: Sendable {
    package let value: String
    package let location: Int

    package init(_ value: String, location: Int = 0) {
        self.value = value
        self.location = location
    }
}

/// The three kinds of operation (GraphQL §2.3).
package enum OperationType: String, Sendable, CaseIterable {
    case query
    case mutation
    case subscription
}

/// `query Name($variable: Type) @directive { … }`, or a bare `{ … }` (GraphQL §2.3).
package final class OperationDefinition: Sendable {
    package let description: StringLiteral?
    package let operation: OperationType
    package let name: Name?
    package let variables: [VariableDefinition]
    package let directives: [Directive]
    package let selectionSet: SelectionSet
    package let location: Int

    package init(
        description: StringLiteral?, operation: OperationType, name: Name?,
        variables: [VariableDefinition], directives: [Directive], selectionSet: SelectionSet,
        location: Int
    ) {
        self.description = description
        self.operation = operation
        self.name = name
        self.variables = variables
        self.directives = directives
        self.selectionSet = selectionSet
        self.location = location
    }
}

/// `$name: Type = default @directive` (GraphQL §2.10).
package struct VariableDefinition: Sendable {
    package let description: StringLiteral?
    package let name: Name
    package let type: TypeReference
    package let defaultValue: Value?
    package let directives: [Directive]
    package let location: Int

    package init(
        description: StringLiteral? = nil, name: Name, type: TypeReference, defaultValue: Value?,
        directives: [Directive] = [], location: Int
    ) {
        self.description = description
        self.name = name
        self.type = type
        self.defaultValue = defaultValue
        self.directives = directives
        self.location = location
    }
}

/// `fragment Name on Type @directive { … }` (GraphQL §2.8).
package final class FragmentDefinition: Sendable {
    package let description: StringLiteral?
    package let name: Name
    package let typeCondition: Name
    package let directives: [Directive]
    package let selectionSet: SelectionSet
    package let location: Int

    package init(
        description: StringLiteral?, name: Name, typeCondition: Name, directives: [Directive],
        selectionSet: SelectionSet, location: Int
    ) {
        self.description = description
        self.name = name
        self.typeCondition = typeCondition
        self.directives = directives
        self.selectionSet = selectionSet
        self.location = location
    }
}

/// `{ selections }` (GraphQL §2.4). Empty only if the document has none.
package struct SelectionSet: Sendable {
    package let selections: [Selection]
    package let location: Int

    package init(selections: [Selection], location: Int = 0) {
        self.selections = selections
        self.location = location
    }
}

/// One entry of a selection set (GraphQL §2.4).
package enum Selection: Sendable {
    case field(Field)
    case fragmentSpread(FragmentSpread)
    case inlineFragment(InlineFragment)
}

/// `alias: name(argument: value) @directive { … }` (GraphQL §2.5).
package final class Field: Sendable {
    package let alias: Name?
    package let name: Name
    package let arguments: [Argument]
    package let directives: [Directive]
    /// nil if the field has no braces.
    package let selectionSet: SelectionSet?

    package init(
        alias: Name?, name: Name, arguments: [Argument], directives: [Directive],
        selectionSet: SelectionSet?
    ) {
        self.alias = alias
        self.name = name
        self.arguments = arguments
        self.directives = directives
        self.selectionSet = selectionSet
    }

    /// The key of this field in the result (GraphQL §2.7).
    package var responseName: String { (alias ?? name).value }
    package var location: Int { (alias ?? name).location }
}

/// `...Name @directive` (GraphQL §2.8).
package final class FragmentSpread: Sendable {
    package let name: Name
    package let directives: [Directive]
    package let location: Int

    package init(name: Name, directives: [Directive], location: Int) {
        self.name = name
        self.directives = directives
        self.location = location
    }
}

/// `... on Type @directive { … }` (GraphQL §2.8.2).
package final class InlineFragment: Sendable {
    package let typeCondition: Name?
    package let directives: [Directive]
    package let selectionSet: SelectionSet
    package let location: Int

    package init(
        typeCondition: Name?, directives: [Directive], selectionSet: SelectionSet, location: Int
    ) {
        self.typeCondition = typeCondition
        self.directives = directives
        self.selectionSet = selectionSet
        self.location = location
    }
}

/// `name: value` in parentheses (GraphQL §2.6).
package struct Argument: Sendable {
    package let name: Name
    package let value: Value

    package init(name: Name, value: Value) {
        self.name = name
        self.value = value
    }

    package var location: Int { name.location }
}

/// `@name(argument: value)` (GraphQL §2.12).
package struct Directive: Sendable {
    package let name: Name
    package let arguments: [Argument]
    /// Where the `@` is.
    package let location: Int

    package init(name: Name, arguments: [Argument], location: Int) {
        self.name = name
        self.arguments = arguments
        self.location = location
    }

    /// The value written for the argument `name`, if any.
    package func argument(_ name: String) -> Value? {
        arguments.first { $0.name.value == name }?.value
    }
}

extension Document {
    /// The operations in the order written.
    package var operations: [OperationDefinition] {
        definitions.compactMap { if case .operation(let operation) = $0 { operation } else { nil } }
    }

    /// The fragments in the order written.
    package var fragments: [FragmentDefinition] {
        definitions.compactMap { if case .fragment(let fragment) = $0 { fragment } else { nil } }
    }
}
