/// A field whose value is a leaf, or a list of leaves.
public final class NormalizationScalarField: Sendable {
    /// The field's name in the schema.
    package let name: String
    /// The alias; nil where there is none.
    package let alias: String?
    /// The arguments that are written; empty where there are none.
    package let args: [any Argument]
    /// Where a record keeps the value.
    package let key: StorageKey
    /// The member of the response that has the value.
    package let responseName: String
    /// nil for operations that are not marked as tests.
    package let typeInfo: SelectionTypeInfo?

    /// A leaf for writing, as the compiler writes it.
    /// - Parameters:
    ///   - name: the field's name in the schema.
    ///   - alias: the alias.
    ///   - args: the arguments that are written.
    ///   - storageKey: the storage key where no variable is part of it.
    ///   - typeInfo: nil for operations that are not marked as tests.
    public init(
        name: String, alias: String? = nil, args: [any Argument] = [], storageKey: String? = nil,
        typeInfo: SelectionTypeInfo? = nil
    ) {
        self.name = name
        self.alias = alias
        self.args = args
        key = StorageKey(name: name, arguments: args, given: storageKey)
        responseName = alias ?? name
        self.typeInfo = typeInfo
    }

    /// The storage key where no variable is part of it.
    package var storageKey: String? { key.constant }
}

/// A field whose value is a record, or a list of records.
public final class NormalizationLinkedField: Sendable {
    /// The field's name in the schema.
    package let name: String
    /// The alias; nil where there is none.
    package let alias: String?
    /// The arguments that are written; empty where there are none.
    package let args: [any Argument]
    /// The type of the records where the schema leaves no choice; nil for an abstract type, whose
    /// objects bring their `__typename`.
    package let concreteType: String?
    /// Whether the value is a list.
    package let plural: Bool
    /// What is selected of each record.
    package let selections: [NormalizationSelection]
    /// Where a record keeps the link.
    package let key: StorageKey
    /// The member of the response that has the object.
    package let responseName: String

    /// A field of objects for writing, as the compiler writes it.
    /// - Parameters:
    ///   - name: the field's name in the schema.
    ///   - alias: the alias.
    ///   - args: the arguments that are written.
    ///   - storageKey: the storage key where no variable is part of it.
    ///   - concreteType: the type of the records where the schema leaves no choice.
    ///   - plural: whether the value is a list.
    ///   - selections: what is selected of each record.
    public init(
        name: String, alias: String? = nil, args: [any Argument] = [], storageKey: String? = nil,
        concreteType: String? = nil, plural: Bool = false, selections: [NormalizationSelection]
    ) {
        self.name = name
        self.alias = alias
        self.args = args
        self.concreteType = concreteType
        self.plural = plural
        self.selections = selections
        key = StorageKey(name: name, arguments: args, given: storageKey)
        responseName = alias ?? name
    }

    /// The storage key where no variable is part of it.
    package var storageKey: String? { key.constant }
}

/// A field that a handler looks at once it is normalized (`@connection`, `@appendNode`, …).
public final class NormalizationHandle: Sendable {
    /// What kind of field the handler looks at.
    public enum Kind: Sendable {
        /// A leaf, or a list of leaves.
        case scalar
        /// A record, or a list of records.
        case linked
    }

    /// What kind of field the handler looks at.
    package let kind: Kind
    /// The field's name in the schema.
    package let name: String
    /// The alias; nil where there is none.
    package let alias: String?
    /// The arguments that are written; empty where there are none.
    package let args: [any Argument]
    /// Which handler: `connection`, `deleteRecord`, `appendNode` …
    package let handle: String
    /// The name that tells this value from others of the handler; empty: the field's name.
    package let key: String
    /// The arguments of the field that tell one handled value from another; nil: none do.
    package let filters: [String]?
    /// Arguments of the directive itself, such as `connections`.
    package let handleArgs: [any Argument]
    /// Where the record keeps the field itself.
    package let fieldKey: StorageKey
    /// Where the handler keeps what it makes of the field: `__KEY_HANDLE`, with the filters as arguments.
    package let handleKey: StorageKey

    /// A handle, as the compiler writes it.
    /// - Parameters:
    ///   - kind: what kind of field the handler looks at.
    ///   - name: the field's name in the schema.
    ///   - alias: the alias.
    ///   - args: the arguments that are written.
    ///   - handle: which handler.
    ///   - key: the name that tells this value from others of the handler.
    ///   - filters: the arguments of the field that tell one handled value from another.
    ///   - handleArgs: arguments of the directive itself, such as `connections`.
    public init(
        kind: Kind, name: String, alias: String? = nil, args: [any Argument] = [], handle: String,
        key: String = "", filters: [String]? = nil, handleArgs: [any Argument] = []
    ) {
        self.kind = kind
        self.name = name
        self.alias = alias
        self.args = args
        self.handle = handle
        self.key = key
        self.filters = filters
        self.handleArgs = handleArgs
        fieldKey = StorageKey(name: name, arguments: args)
        handleKey = StorageKey(
            name: "__\(key.isEmpty ? name : key)_\(handle)",
            arguments: args.filter { filters?.contains($0.name) ?? false })
    }
}
