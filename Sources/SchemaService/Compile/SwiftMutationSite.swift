import GraphQLExecution
import GraphQLLanguage
@_spi(Rooms) import RelayRecords

/// A root field of the mutation type that only Swift code implements. How its payload is filled is inferred
/// from types and names.
///
/// The handler returns the id of one record. It fills the payload field of its type or, if the record is
/// gone, the ID field named `deleted…`. Another record is the one named by an input field: `user` is the
/// record of `userId`. An edge is the record's edge in that other record's connection.
struct SwiftMutationSite {
    let field: SchemaField
    let payload: NamedType
    /// The input's type, or the field itself if there is no `input` argument.
    let inputName: String
    let inputFields: [SchemaInputValue]
    private(set) var parts: [(name: String, part: PayloadPart)] = []

    private let types: ServiceTypes
    private var record: TypeID?
    private var parent: RecordReference?
    /// The parent's connection that contains the payload's edge.
    private var list: String?

    /// Nil, and reported, if the field's type is not a payload.
    init?(_ field: SchemaField, types: ServiceTypes, mistakes: MistakeCollector) {
        let schema = types.schema
        guard let payload = types.payload(of: field, mistakes) else { return nil }
        self.field = field
        self.payload = payload
        self.types = types
        if let input = field.argument("input"), schema[input.namedType].kind == .inputObject {
            inputName = schema[input.namedType].name
            inputFields = schema[input.namedType].inputFields
        } else {
            inputName = field.name
            inputFields = field.arguments
        }
        let open = payload.fields.filter { !types.isComputed($0) }
        for field in open { fillScalarOrRecord(field) }
        for field in open { fillEdge(field) }
        for field in open where !parts.contains(where: { $0.name == field.name }) {
            mistakes.report(
                """
                "\(payload.name).\(field.name)" cannot be filled. What can be: a field of the type \
                of the record that the handler gives, one of a record that an input field names \
                ("user" by "userId"), "deletedId: ID", "clientMutationId: String". Or register a \
                resolver for "\(payload.name).\(field.name)".
                """, at: field.location)
        }
    }

    /// The input fields that name records of known types.
    var references: [String: RecordReference] { parent.map { [$0.input: $0] } ?? [:] }

    func payloadSource(_ symbols: Symbols) -> PayloadSource {
        PayloadSource(
            parent: parent?.finder(types, symbols), list: list.map(symbols.name), isDeletion: nil)
    }

    private mutating func fillScalarOrRecord(_ field: SchemaField) {
        let schema = types.schema
        guard field.type.listItem == nil, field.arguments.isEmpty else { return }
        let recordTypes = types.recordTypes(of: field.namedType)
        switch schema[field.namedType].name {
        case "String" where field.name == "clientMutationId":
            parts.append((field.name, .clientMutationID))
        case "ID" where field.name.hasPrefix("deleted"):
            parts.append((field.name, .deletedID))
        case _ where recordTypes.isEmpty:
            break
        default:
            let naming = inputFields.first {
                MutationSite.stem($0.name) == field.name && schema.isRecordName($0.type)
            }
            if parent == nil, let naming {
                parent = RecordReference(
                    mutation: self.field.name, input: naming.name,
                    typeName: schema[field.namedType].name, types: recordTypes,
                    isOptional: !naming.type.isNonNull)
                parts.append((field.name, .parent))
            } else if record == nil {
                record = field.namedType
                parts.append((field.name, .record))
            }
        }
    }

    private mutating func fillEdge(_ field: SchemaField) {
        guard list == nil, field.type.listItem == nil, let parent else { return }
        let owners = parent.types.flatMap { types.schema[$0].fields }
        let connections = owners.filter { owner in
            guard case .connection(let connection)? = types.kind(of: owner) else { return false }
            return connection.edge == field.namedType
        }
        guard connections.count == 1, let connection = connections.first else { return }
        list = connection.name
        parts.append((field.name, .edge))
    }
}
