import GraphQLLanguage
import RelayArtifacts
import RelayIR

/// Writes the types of data, and how they are read.
struct DataWriter {
    let types: SwiftTypes

    private var access: String { types.options.access.modifier }

    /// - Parameters:
    ///   - name: of the type.
    ///   - suffix: what the names of types for cases end in.
    ///   - known: types of data that are already there, by the names of the fields that lead to them.
    func write(
        _ shape: DataShape, as name: String, suffix: String = "",
        known: [String: KnownData] = [:], to text: inout SwiftText
    ) {
        shape.variants.isEmpty
            ? writeStruct(shape, name, known, &text) : writeEnum(shape, name, suffix, &text)
    }

    /// The type of a field's data, where another selection of the same record has the same.
    struct KnownData {
        var member: DataMember
        var type: String
    }

    // MARK: The same data for all records

    private func writeStruct(
        _ shape: DataShape, _ name: String, _ known: [String: KnownData], _ text: inout SwiftText
    ) {
        let scope = DataScope(shape, known, types.names)
        let conformances = conformances(shape.members, shape.spreads)
        text.block("\(access)struct \(name): \(conformances)") { text in
            for member in scope.members { declare(member, &text) }
            for spread in shape.spreads {
                let type = spread.isConditional ? "FragmentPointer?" : "FragmentPointer"
                text.line("\(access)var fragment_\(spread.fragment): \(type)")
            }
            text.space()
            let reads = scope.members.map(read) + shape.spreads.map(read)
            let head = "\(access)init(_ record: inout RecordReader) throws"
            if reads.count < 2 {
                text.short(head, reads.first ?? "")
            } else {
                text.block(head) { text in
                    for read in reads { text.line(read) }
                }
            }
            writeNested(scope, &text)
        }
    }

    private func conformances(_ members: [DataMember], _ spreads: [DataSpread]) -> String {
        let isIdentifiable = members.contains { member in
            member.name == "id" && member.isPresent && !member.isNulled && !member.isResult
                && member.shape == nil && member.type.listItem == nil
                && types.schema[member.type.namedType].name == "ID"
        }
        return
            (["ReadableRecord", "Equatable"] + (isIdentifiable ? ["Identifiable"] : [])
            + spreads.filter { !$0.isConditional }.map { types.names.key($0.fragment) })
            .joined(separator: ", ")
    }

    private func writeNested(_ scope: DataScope, _ text: inout SwiftText) {
        for member in scope.members where !member.isKnown {
            guard let shape = member.member.shape, let type = member.dataType else { continue }
            text.space()
            text.document(shape.variants.isEmpty ? nil : "What is selected depends on the type.")
            write(shape, as: type, suffix: "_" + member.member.name, to: &text)
        }
    }

    // MARK: Fields

    private func declare(_ scoped: DataScope.Member, _ text: inout SwiftText) {
        let type = type(of: scoped)
        let definition = scoped.member.definition
        guard let reason = definition?.deprecationReason else {
            text.document(documentation(of: scoped.member))
            text.line("\(access)var \(scoped.quoted): \(type)")
            return
        }
        // The type's own initializer would be warned about a deprecated stored property.
        text.space()
        text.document(documentation(of: scoped.member))
        text.deprecate(reason)
        text.block("\(access)var \(scoped.quoted): \(type)") { text in
            text.line("get { \(scoped.storage) }")
            text.line("set { \(scoped.storage) = newValue }")
        }
        text.line("private var \(scoped.storage): \(type)")
        text.space()
    }

    private func documentation(of member: DataMember) -> String? {
        // `__typename` and `__id` are no fields of the schema; what they are is known.
        member.definition === types.schema.typenameField ? nil : member.definition?.description
    }

    private func type(of scoped: DataScope.Member) -> String {
        let member = scoped.member
        var type = present(scoped)
        if member.isResult {
            let value = member.isPresentOrFailed ? type : type + "?"
            type = "Result<\(value), FieldErrors>"
            return member.isConditional ? type + "?" : type
        }
        return member.isPresent ? type : type + "?"
    }

    private func present(_ scoped: DataScope.Member) -> String {
        let member = scoped.member
        guard let data = scoped.dataType else { return types.present(member.type) }
        guard member.type.listItem != nil else { return data }
        return member.hasPresentElements ? "[\(data)]" : "[\(data)?]"
    }

    /// `text = try record.string("text")`
    private func read(_ scoped: DataScope.Member) -> String {
        let member = scoped.member
        let target = scoped.storage == "record" ? "self.record" : scoped.storage
        let name = SwiftText.literal(member.name)
        var call: String
        if member.isResult {
            let method = method(scoped, isPresent: member.isPresentOrFailed)
            call = "record.caught(\(name), { try $0.\(method)(\(name)) })"
        } else {
            call = "record.\(method(scoped, isPresent: member.isPresent))(\(name))"
        }
        if member.isConditional { call = "record.selects(\(name)) ? \(call) : nil" }
        return "\(target) = try \(call)"
    }

    private func read(_ spread: DataSpread) -> String {
        let method = spread.isConditional ? "optionalFragment" : "fragment"
        return "fragment_\(spread.fragment) = record.\(method)(\"\(spread.fragment)\")"
    }

    private func method(_ scoped: DataScope.Member, isPresent: Bool) -> String {
        let member = scoped.member
        if scoped.dataType != nil {
            guard member.type.listItem != nil else {
                return isPresent ? "linked" : "optionalLinked"
            }
            switch (isPresent, member.hasPresentElements) {
            case (true, true): return "completeList"
            case (true, false): return "list"
            case (false, true): return "optionalCompleteList"
            case (false, false): return "optionalList"
            }
        }
        let name =
            switch types.present(member.type) {
            case "String": "string"
            case "Int": "int"
            case "Double": "double"
            case "Bool": "bool"
            default: "scalar"
            }
        return isPresent ? name : "optional" + name.prefix(1).uppercased() + name.dropFirst()
    }

    // MARK: Data that depends on the type

    private func writeEnum(
        _ shape: DataShape, _ name: String, _ suffix: String, _ text: inout SwiftText
    ) {
        let scope = DataEnumScope(shape, suffix: suffix, types.names)
        let conformances = conformances(scope.shared.members.map(\.member), shape.spreads)
        text.block("\(access)enum \(name): \(conformances)") { text in
            for variant in scope.variants {
                text.document(variant.variant.type.description)
                text.line("case \(variant.quoted)(\(variant.dataType))")
            }
            text.document("An object of another type.")
            text.line("case \(SwiftNames.quoted(scope.other))(\(scope.otherType))")
            text.space()
            text.block("\(access)init(_ record: inout RecordReader) throws") { text in
                text.line("switch record.typename {")
                for variant in scope.variants {
                    text.line(
                        "case \(SwiftText.literal(variant.variant.type.name)): "
                            + "self = .\(variant.quoted)(try \(variant.dataType)(&record))")
                }
                text.line(
                    "default: self = .\(SwiftNames.quoted(scope.other))(try \(scope.otherType)(&record))"
                )
                text.line("}")
            }
            for variant in scope.variants {
                text.space()
                text.document("The data of a `\(variant.variant.type.name)`; nil for another type.")
                text.short(
                    "\(access)var \(variant.accessor): \(variant.dataType)?",
                    "if case .\(variant.quoted)(let value) = self { value } else { nil }")
            }
            writeShared(scope, &text)
            for variant in scope.variants {
                text.space()
                text.document(variant.variant.type.description)
                write(
                    variant.variant.shape, as: variant.dataType, known: scope.known, to: &text)
            }
            text.space()
            text.document("What is selected of all types.")
            let all = DataShape(
                type: shape.type, members: shape.members, spreads: shape.spreads, variants: [])
            write(all, as: scope.otherType, known: scope.known, to: &text)
            writeNested(scope.shared, &text)
        }
    }

    /// What all cases have, without looking at the case.
    private func writeShared(_ scope: DataEnumScope, _ text: inout SwiftText) {
        func write(_ name: String, _ type: String, _ text: inout SwiftText) {
            text.block("\(access)var \(name): \(type)") { text in
                text.line("switch self {")
                for known in scope.variants.map(\.quoted) + [SwiftNames.quoted(scope.other)] {
                    text.line("case .\(known)(let value): value.\(name)")
                }
                text.line("}")
            }
        }
        for member in scope.shared.members {
            text.space()
            text.document(documentation(of: member.member))
            text.deprecate(member.member.definition?.deprecationReason)
            write(member.quoted, type(of: member), &text)
        }
        for spread in scope.shape.spreads {
            text.space()
            let type = spread.isConditional ? "FragmentPointer?" : "FragmentPointer"
            write("fragment_\(spread.fragment)", type, &text)
        }
    }
}
