import GraphQLLanguage
import RelayIR

/// The types nested in an expected answer that are used in several places: each is written once.
///
/// What a mutation selects of an abstract type is in the type of each of its objects, and so is what is in that:
/// written wherever it is used, there would be exponentially much.
final class SharedAnswers {
    /// A type by what it is called, and what it has.
    private struct Key: Hashable {
        var type: TypeID
        var member: String
        var structure: Int
    }

    /// All that is written of a shape.
    private struct Structure: Hashable {
        struct Member: Hashable {
            var name: String
            var type: WrappedType
            var isConditional: Bool
            var isTypename: Bool
            var description: String?
            var structure: Int?
        }

        var type: TypeID
        var members: [Member]
        /// Those of its object types.
        var variants: [Int]
    }

    /// A type that is used in several places.
    struct Answer {
        var name: String
        var member: DataMember
        var shape: DataShape
    }

    private let types: SwiftTypes
    private var structures: [Structure: Int] = [:]
    private var known: [ObjectIdentifier: Int] = [:]
    private var uses: [Key: Int] = [:]
    private var names: [Key: String] = [:]
    /// In the order in which they are first used.
    private(set) var all: [Answer] = []

    /// - Parameter root: the whole answer; it has the shared types.
    init(_ root: DataShape, _ types: SwiftTypes) {
        self.types = types
        var found: [(key: Key, member: DataMember, shape: DataShape)] = []
        countUses(in: root, &found)
        // What only the answer itself has keeps its name.
        var scope = Self.scope(root.members)
        for member in root.members {
            guard let shape = member.shape, uses[key(member, shape)] == 1 else { continue }
            _ = Self.name(member, shape, &scope, types)
        }
        for (key, member, shape) in found where uses[key, default: 0] > 1 {
            let name = Self.name(member, shape, &scope, types)
            names[key] = name
            all.append(Answer(name: name, member: member, shape: shape))
        }
    }

    /// The name of a field's type if it is shared.
    func name(_ member: DataMember, _ shape: DataShape) -> String? { names[key(member, shape)] }

    /// The names that a type with these fields has already.
    static func scope(_ members: [DataMember]) -> NameScope {
        var scope = NameScope(["NullableField"])
        for member in members { _ = scope.take(SwiftNames.member(member.name)) }
        return scope
    }

    /// A new name for a field's type.
    static func name(
        _ member: DataMember, _ shape: DataShape, _ scope: inout NameScope, _ types: SwiftTypes
    ) -> String {
        DataScope.nested("\(shape.type.name)_\(member.name)", &scope, types.names)
    }

    private func countUses(
        in shape: DataShape, _ found: inout [(key: Key, member: DataMember, shape: DataShape)]
    ) {
        for written in [shape] + shape.variants.map(\.shape) {
            for member in written.members {
                guard let shape = member.shape else { continue }
                let key = key(member, shape)
                uses[key, default: 0] += 1
                if uses[key] == 1 {
                    found.append((key, member, shape))
                    countUses(in: shape, &found)
                }
            }
        }
    }

    private func key(_ member: DataMember, _ shape: DataShape) -> Key {
        Key(type: shape.type.id, member: member.name, structure: structure(of: shape))
    }

    /// The same number for shapes of which the same is written.
    private func structure(of shape: DataShape) -> Int {
        if let number = known[ObjectIdentifier(shape)] { return number }
        let structure = Structure(
            type: shape.type.id,
            members: shape.members.map { member in
                Structure.Member(
                    name: member.name, type: member.type, isConditional: member.isConditional,
                    isTypename: member.definition === types.schema.typenameField,
                    description: member.definition?.description,
                    structure: member.shape.map { self.structure(of: $0) })
            }, variants: shape.variants.map { self.structure(of: $0.shape) })
        let number = structures[structure] ?? structures.count
        structures[structure] = number
        known[ObjectIdentifier(shape)] = number
        return number
    }
}
