import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords

/// Reads a seed file line by line and collects its errors.
struct SeedReader {
    let schema: ServiceSchema
    let context: MutationContext
    private(set) var errors: [SeedError] = []
    private(set) var warnings: [String] = []
    private(set) var writer = WriteSetWriter()

    private struct Known {
        let line: Int
        let type: TypeID
    }

    private struct Link {
        let line: Int
        let field: String
        let target: DataID
        let types: [TypeID]
    }

    private struct UniqueValue: Hashable {
        let field: String
        let value: JSONValue
    }

    private var records: [DataID: Known] = [:]
    private var links: [Link] = []
    private var uniqueValues: [UniqueValue: Int] = [:]

    init(schema: ServiceSchema, context: MutationContext) {
        self.schema = schema
        self.context = context
    }

    private var types: ServiceTypes { schema.types }

    mutating func read(_ line: ArraySlice<UInt8>, number: Int) {
        if line.allSatisfy(Self.isSpace) { return }
        let record: RecordJSON
        do throws(RecordJSONError) {
            record = try RecordJSON(line: line)
        } catch {
            return report(error.message, at: number)
        }
        guard let type = schema.schema.type(named: record.type), types.isStored(type.id) else {
            let near = nearest(record.type, among: types.stored.map(\.name))
            return report(
                "There is no stored type \"\(record.type)\" for record \"\(record.id)\".\(near)",
                at: number)
        }
        if let first = records[record.id] {
            return report(
                "Record \"\(record.id)\" is already on line \(first.line).", at: number)
        }
        records[record.id] = Known(line: number, type: type.id)
        var fields = record.fields.compactMap { name, value in
            field(name, value, of: type, at: number).map { (key: name, value: $0) }
        }
        fields += missingFields(of: type, besides: Set(record.fields.map(\.key)), record.id, number)
        writer.write(record.id, type: type.name, fields: fields)
    }

    /// Links can only be checked once all records are known.
    mutating func checkLinks() {
        for link in links {
            guard let target = records[link.target] else {
                warnings.append(
                    """
                    line \(link.line): \(link.field) refers to "\(link.target)", which is not in the \
                    file.
                    """)
                continue
            }
            if link.types.contains(target.type) { continue }
            let expected = link.types.map { schema.schema[$0].name }.joined(separator: " or ")
            report(
                """
                \(link.field) must refer to \(expected), and "\(link.target)" on line \
                \(target.line) is \(schema.schema[target.type].name).
                """, at: link.line)
        }
    }

    // MARK: Fields

    /// The value as stored; nil, and reported, if it does not fit the field.
    private mutating func field(
        _ name: String, _ value: FieldValue, of type: NamedType, at line: Int
    ) -> FieldValue? {
        let path = "\(type.name).\(name)"
        guard let field = type.field(name), name != "id" else {
            let near = nearest(name, among: type.fields.map(\.name).filter { $0 != "id" })
            report("There is no field \(path).\(near)", at: line)
            return nil
        }
        let isNullable = !field.type.isNonNull
        switch (types.kind(of: field), value) {
        case (.found, _):
            report("\(path) is found by a directive and cannot be given.", at: line)
            return nil
        case (.leaf, _):
            guard let leaf = value.leaf.flatMap({ schema.schema.storable($0, as: field.type) })
            else {
                break
            }
            checkUnique(leaf, field, path, line)
            return FieldValue(leaf: leaf)
        case (.link(let target), .link(let id)):
            links.append(
                Link(line: line, field: path, target: id, types: types.recordTypes(of: target)))
            return value
        case (.link, .null) where isNullable, (.links, .null) where isNullable,
            (.connection, .null) where isNullable:
            return value
        case (.links(let node), .links(let ids)):
            return checked(ids, path, node, line) ? value : nil
        case (.connection(let connection), .links(let ids)):
            return checked(ids, path, connection.node, line) ? value : nil
        default:
            break
        }
        report(
            """
            \(path) is \(schema.schema.print(field.type)), which \(value.recordJSON.text) does not \
            fit.\(hint(for: field))
            """, at: line)
        return nil
    }

    private mutating func checked(
        _ ids: [DataID?], _ path: String, _ node: TypeID, _ line: Int
    ) -> Bool {
        let targets = types.recordTypes(of: node)
        for id in ids {
            guard let id else {
                report("\(path) is a list of records, in which null has no place.", at: line)
                return false
            }
            links.append(Link(line: line, field: path, target: id, types: targets))
        }
        return true
    }

    private func hint(for field: SchemaField) -> String {
        switch types.kind(of: field) {
        case .link: " Write {\"ref\": id}."
        case .links, .connection: " Write {\"refs\": [id, …]}."
        case .leaf where field.type.listItem != nil: " Write {\"value\": […]}."
        default: ""
        }
    }

    private mutating func checkUnique(
        _ value: JSONValue, _ field: SchemaField, _ path: String, _ line: Int
    ) {
        guard field.applied(.unique) != nil, value != .null else { return }
        let unique = UniqueValue(field: path, value: value)
        if let first = uniqueValues[unique] {
            report("\(path) is unique, and \(value.text) is already on line \(first).", at: line)
        } else {
            uniqueValues[unique] = line
        }
    }

    /// Values for non-null fields that were not given.
    private mutating func missingFields(
        of type: NamedType, besides given: Set<String>, _ id: DataID, _ line: Int
    ) -> [(key: String, value: FieldValue)] {
        var fields: [(key: String, value: FieldValue)] = []
        for field in type.fields where field.type.isNonNull && !given.contains(field.name) {
            switch types.kind(of: field) {
            case .leaf where field.moment != nil: fields.append((field.name, context.timestamp))
            case .leaf where field.type.listItem != nil: fields.append((field.name, .json([])))
            case .leaf, .link:
                report(
                    """
                    Record "\(id)" needs "\(field.name)": \(type.name).\(field.name) is \
                    \(schema.schema.print(field.type)).
                    """, at: line)
            case .id, .links, .connection, .found, nil: continue
            }
        }
        return fields
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }

    private mutating func report(_ message: String, at line: Int) {
        errors.append(SeedError(line: line, message: message))
    }
}
