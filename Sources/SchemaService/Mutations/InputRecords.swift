import GraphQLExecution
import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords

/// Which values in the arguments of a mutation name records. Whatever looks for these asks here: the mutation itself, its
/// handler's input, what the log keeps of it, and subscriptions that compare their arguments with it.
///
/// Inputs that a directive uses, or that name the record of a payload's field, name records of known types, by id or unique
/// value. In other mutations every `ID` is the id of a record, of whatever type, to whom rules restrict.
struct InputRecords: Sendable {
    /// The root field.
    let field: SchemaField
    let schema: Schema
    /// By input field.
    let finders: [String: RecordFinder]
    /// Only Swift code knows what the mutation does.
    let isByProgram: Bool
    /// Swift code runs before any directive: the mutation itself, or its checks.
    let isReadByProgram: Bool

    /// The arguments with ids in place of everything that names a record.
    /// - Throws: `NOT_FOUND` if there is no such record, or none for whoever asks. A directive without checks does that by
    ///   itself, in the order of its steps, so what it does not find is left as it is. So is an `ID` of which nothing more
    ///   is known where nothing is hidden: it may be one that the mutation creates, or belong to another system.
    func arguments(
        naming arguments: JSONObject, _ snapshot: Snapshot, _ access: MutationAccess
    ) throws(ExecutionError) -> JSONObject {
        func id(_ value: JSONValue, _ finder: RecordFinder?, _ path: String) throws(ExecutionError)
            -> JSONValue
        {
            let lookup = finder?.lookup ?? Self.byID
            if let record = access.find(value, lookup, in: snapshot) {
                return .string(snapshot.dataID(record).rawValue)
            }
            if !isReadByProgram { return value }
            if let finder { throw finder.refusal(of: value) }
            if !access.hidesRecords { return value }
            throw ExecutionError(
                """
                Could not run \(field.name): there is no record whose id is \(value.described) \
                (\(path)). Nothing was changed.
                """, code: .notFound)
        }
        let hasInput = arguments["input"]?.object != nil
        var named = arguments
        for argument in field.arguments {
            guard let value = arguments[argument.name] else { continue }
            if hasInput, argument.name == "input" {
                named["input"] = try replacingFields(of: value, argument.type, "input", finders, id)
            } else {
                named[argument.name] = try replacing(
                    value, argument.type, argument.name, finders[argument.name], id)
            }
        }
        return named
    }

    /// Likewise for one field of the input, or an argument that is compared with it.
    func value(
        _ value: JSONValue, of input: SchemaInputValue,
        _ id: (_ text: String, _ lookup: Lookup) throws(Hidden) -> DataID
    ) throws(Hidden) -> JSONValue {
        try replacing(value, input.type, input.name, finders[input.name]) {
            (value, finder, _) throws(Hidden) in
            guard let text = value.recordName else { return value }
            return .string(try id(text, finder?.lookup ?? Self.byID).rawValue)
        }
    }

    /// A value names what does not exist for whoever asks.
    struct Hidden: Error {}

    private static let byID = Lookup(argument: "", types: [], uniqueKeys: [])

    private typealias Replacement<Failure: Error> =
        (JSONValue, RecordFinder?, _ path: String) throws(Failure) -> JSONValue

    private func replacingFields<Failure>(
        of input: JSONValue, _ type: WrappedType, _ path: String, _ finders: [String: RecordFinder],
        _ id: Replacement<Failure>
    ) throws(Failure) -> JSONValue {
        guard var object = input.object else { return input }
        for field in schema[type.namedType].inputFields {
            guard let value = object[field.name] else { continue }
            object[field.name] = try replacing(
                value, field.type, "\(path).\(field.name)", finders[field.name], id)
        }
        return .object(object)
    }

    private func replacing<Failure>(
        _ value: JSONValue, _ type: WrappedType, _ path: String, _ finder: RecordFinder?,
        _ id: Replacement<Failure>
    ) throws(Failure) -> JSONValue {
        if value == .null { return value }
        if let item = type.listItem {
            // A list may be given by its only element (GraphQL §3.11).
            var elements = value.array ?? [value]
            for index in elements.indices {
                elements[index] = try replacing(elements[index], item, path, finder, id)
            }
            return .array(elements)
        }
        let named = schema[type.namedType]
        if named.kind == .inputObject { return try replacingFields(of: value, type, path, [:], id) }
        return finder != nil || (isByProgram && named.name == "ID")
            ? try id(value, finder, path) : value
    }
}

extension InputRecords {
    init(
        _ field: SchemaField, _ references: [String: RecordReference], _ types: ServiceTypes,
        _ symbols: Symbols, isByProgram: Bool, hasChecks: Bool = false
    ) {
        self.init(
            field: field, schema: types.schema,
            finders: references.mapValues { $0.finder(types, symbols) }, isByProgram: isByProgram,
            isReadByProgram: isByProgram || hasChecks)
    }
}
