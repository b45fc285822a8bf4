/// What `@required(action:)` does when the field is null: each makes the nearest enclosing object null.
public enum RequiredAction: String, Hashable, Sendable {
    /// Nothing besides.
    case none = "NONE"
    /// Also says so in the log.
    case log = "LOG"
    /// Also throws, to the reader of the data.
    case `throw` = "THROW"
}

/// What `@catch(to:)` makes of field errors below it.
public enum CatchTarget: String, Hashable, Sendable {
    /// A `Result`: the value, or the errors.
    case result = "RESULT"
    /// null.
    case null = "NULL"
}

/// A field whose value is a leaf, or a list of leaves.
public final class ReaderScalarField: Sendable {
    /// The field's name in the schema.
    package let name: String
    /// The alias; nil where there is none.
    package let alias: String?
    /// The arguments that are written; empty where there are none.
    package let args: [any Argument]
    /// nil without `@required`.
    package let required: RequiredAction?
    /// nil without `@catch`.
    package let catchTo: CatchTarget?
    /// Where a record keeps the value.
    package let key: StorageKey
    /// The name of the value in the data.
    package let responseName: String

    /// A leaf for reading, as the compiler writes it.
    /// - Parameters:
    ///   - name: the field's name in the schema.
    ///   - alias: the alias.
    ///   - storageKey: the storage key where no variable is part of it.
    ///   - args: the arguments that are written.
    ///   - required: nil without `@required`.
    ///   - catchTo: nil without `@catch`.
    public init(
        name: String, alias: String? = nil, storageKey: String? = nil, args: [any Argument] = [],
        required: RequiredAction? = nil, catchTo: CatchTarget? = nil
    ) {
        self.name = name
        self.alias = alias
        self.args = args
        self.required = required
        self.catchTo = catchTo
        key = StorageKey(name: name, arguments: args, given: storageKey)
        responseName = alias ?? name
    }

    /// The storage key where no variable is part of it.
    package var storageKey: String? { key.constant }
}

/// A field whose value is a record, or a list of records.
public final class ReaderLinkedField: Sendable {
    /// The field's name in the schema.
    package let name: String
    /// The alias; nil where there is none.
    package let alias: String?
    /// The arguments that are written; empty where there are none.
    package let args: [any Argument]
    /// The type of the records where the schema leaves no choice.
    package let concreteType: String?
    /// Whether the value is a list.
    package let plural: Bool
    /// nil without `@required`.
    package let required: RequiredAction?
    /// nil without `@catch`.
    package let catchTo: CatchTarget?
    /// What is read of each record.
    package let selections: [ReaderSelection]
    /// Where a record keeps the link.
    package let key: StorageKey
    /// The name of the value in the data.
    package let responseName: String

    /// A field of objects for reading, as the compiler writes it.
    /// - Parameters:
    ///   - name: the field's name in the schema.
    ///   - alias: the alias.
    ///   - storageKey: the storage key where no variable is part of it.
    ///   - args: the arguments that are written.
    ///   - concreteType: the type of the records where the schema leaves no choice.
    ///   - plural: whether the value is a list.
    ///   - required: nil without `@required`.
    ///   - catchTo: nil without `@catch`.
    ///   - selections: what is read of each record.
    public init(
        name: String, alias: String? = nil, storageKey: String? = nil, args: [any Argument] = [],
        concreteType: String? = nil, plural: Bool = false, required: RequiredAction? = nil,
        catchTo: CatchTarget? = nil, selections: [ReaderSelection]
    ) {
        self.name = name
        self.alias = alias
        self.args = args
        self.concreteType = concreteType
        self.plural = plural
        self.required = required
        self.catchTo = catchTo
        self.selections = selections
        key = StorageKey(name: name, arguments: args, given: storageKey)
        responseName = alias ?? name
    }

    /// The storage key where no variable is part of it.
    package var storageKey: String? { key.constant }
}
