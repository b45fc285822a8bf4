import RelayJSON

@testable import GraphQLLanguage

/// Answers operations that select nothing but introspection, as an executor would.
struct IntrospectionExecutor {
    let schema: Schema
    let document: Document

    init(_ schema: Schema, _ text: String) throws {
        self.schema = schema
        self.document = try Document(parsing: text)
        if let error = document.validate(against: schema).first { throw error }
    }

    func run() -> JSONValue {
        var result = JSONObject()
        for case .field(let field) in document.operations[0].selectionSet.selections {
            var value = IntrospectionValue.object(.schema)
            if field.name.value == "__type",
                case .string(let name, _) = field.arguments[0].value.kind
            {
                value = schema.introspect(type: name)
            }
            result[field.responseName] = complete(value, field)
        }
        return .object(result)
    }

    private func complete(_ value: IntrospectionValue, _ field: Field) -> JSONValue {
        switch value {
        case .null: .null
        case .boolean(let value): .bool(value)
        case .string(let text): .string(text)
        case .names(let names): .array(names.map { .string($0) })
        case .list(let objects): .array(objects.map { complete(.object($0), field) })
        case .object(let object): .object(execute(field.selectionSet, object))
        }
    }

    private func execute(_ selectionSet: SelectionSet?, _ object: IntrospectionObject) -> JSONObject
    {
        var result = JSONObject()
        for selection in selectionSet?.selections ?? [] {
            switch selection {
            case .field(let field) where field.name.value == "__typename":
                result[field.responseName] = .string(object.typeName)
            case .field(let field):
                var includeDeprecated = false
                if case .boolean(true) = field.arguments.first?.value.kind {
                    includeDeprecated = true
                }
                let value = schema.introspect(
                    field.name.value, of: object, includeDeprecated: includeDeprecated)
                result[field.responseName] = complete(value, field)
            case .inlineFragment(let fragment):
                for (key, value) in execute(fragment.selectionSet, object).members {
                    result[key] = value
                }
            case .fragmentSpread(let spread):
                let fragment = document.fragments.first { $0.name.value == spread.name.value }
                for (key, value) in execute(fragment?.selectionSet, object).members {
                    result[key] = value
                }
            }
        }
        return result
    }
}
