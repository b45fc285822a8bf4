import GraphQLLanguage
import RelayIR

/// The names in a type of data.
struct DataScope {
    /// A field and its names.
    struct Member {
        var member: DataMember
        /// The property, without quotes.
        var name: String
        /// What holds the value: the property itself, unless it is deprecated.
        var storage: String
        /// The type of the data behind a link.
        var dataType: String?
        /// Whether that type is written elsewhere.
        var isKnown = false

        /// The property, as Swift source has it.
        var quoted: String { SwiftNames.quoted(name) }
    }

    private(set) var members: [Member] = []

    init(_ shape: DataShape, _ known: [String: DataWriter.KnownData], _ names: ModuleNames) {
        // Key protocols say what pointers are called, so their names come first.
        var scope = NameScope(Set(shape.spreads.map { "fragment_" + $0.fragment }))
        for member in shape.members {
            let name = scope.take(SwiftNames.member(member.name))
            members.append(Member(member: member, name: name, storage: SwiftNames.quoted(name)))
        }
        for place in members.indices {
            let member = members[place].member
            if member.definition?.deprecationReason != nil {
                members[place].storage = scope.take("stored_" + member.name)
            }
            guard let inner = member.shape else { continue }
            if let known = known[member.name], known.member.isSame(as: member) {
                members[place].dataType = known.type
                members[place].isKnown = true
            } else {
                members[place].dataType = Self.nested(
                    "\(inner.type.name)_\(member.name)", &scope, names)
            }
        }
    }

    /// The name of a nested type, which hides none that data refers to.
    static func nested(
        _ name: String, _ scope: inout NameScope, _ names: ModuleNames
    ) -> String {
        var name = scope.take(SwiftNames.type(name))
        while names.visibleInData.contains(name) { name = scope.take(name + "_") }
        return name
    }
}

/// The names in a type of data that depends on the type of the record.
struct DataEnumScope {
    struct Variant {
        var variant: DataShape.Variant
        /// The case, without quotes.
        var name: String
        var accessor: String
        var dataType: String

        var quoted: String { SwiftNames.quoted(name) }
    }

    let shape: DataShape
    /// The properties that all cases have, and the types of their data.
    private(set) var shared: DataScope
    private(set) var variants: [Variant] = []
    /// The case for objects of other types, without quotes, and the type of its data.
    let other: String
    let otherType: String

    /// - Parameter suffix: what the names of the cases' types end in.
    init(_ shape: DataShape, suffix: String, _ names: ModuleNames) {
        self.shape = shape
        // A linked field of which some type selects more has no type of its own here.
        let same = shape.members.filter { Self.isShared($0, shape) }
        shared = DataScope(
            DataShape(type: shape.type, members: same, spreads: shape.spreads, variants: []), [:],
            names)
        // Of an optional, `.none` and `.some` mean something else.
        var scope = NameScope(
            Set(["none", "some"]).union(shape.spreads.map { "fragment_" + $0.fragment })
                .union(shared.members.map(\.name)).union(shared.members.compactMap(\.dataType))
                .union(shared.members.map(\.storage)))
        other = scope.take("other")
        otherType = scope.take("Other")
        for variant in shape.variants {
            let type = variant.type.name
            variants.append(
                Variant(
                    variant: variant,
                    name: scope.take(SwiftNames.member(SwiftNames.lowerCamel(type))),
                    accessor: scope.take("as" + type.prefix(1).uppercased() + type.dropFirst()),
                    dataType: DataScope.nested(type + suffix, &scope, names)))
        }
    }

    /// Whether all cases have a field with the same type.
    private static func isShared(_ member: DataMember, _ shape: DataShape) -> Bool {
        shape.variants.allSatisfy { variant in
            variant.shape.members.contains { $0.name == member.name && $0.isSame(as: member) }
        }
    }

    /// The types of data that cases share.
    var known: [String: DataWriter.KnownData] {
        var known: [String: DataWriter.KnownData] = [:]
        for member in shared.members {
            guard let type = member.dataType else { continue }
            known[member.member.name] = .init(member: member.member, type: type)
        }
        return known
    }
}
