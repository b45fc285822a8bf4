package import RelayJSON

// Compiled operations and fragments as text: what generated code contains. A literal of nested nodes takes the Swift
// compiler seconds to type-check; a string takes it nothing, and is decoded once, in microseconds.
//
// The text is JSON. Nodes are arrays, whose parts are known by position:
//
//     request     [version, name, types, kind, reader, operation, text, id, request name]
//     fragment    [version, name, types, reader]
//     types       the abstract types that nodes name by their place here: [[name, key, object type…]…]
//     kind        1 query, 2 mutation, 3 subscription
//     reader      [type, selections, definitions, metadata]
//     operation   [selections, definitions, operation name, [argument that tells null from none…]]
//     definition  name   [name, default]   [0, name] (declared by the operation)
//     metadata    [plural, catch, throws, connections, refetch, root type]
//     connection  [path, forward, backward]; a direction is [count, cursor]
//     refetch     [operation, path, identifier]
//     argument    name ($name)   [name, variable, null]   [0, name, literal, null]   [1, name, items]   [2, name, fields]
//                 null: 1 if null is another value than none
//     type        name   place in types (abstract)
//
//     selection   to read                                   to normalize
//     leaf        name
//                 [0, name, alias, args, key, required, catch]
//                                                           [0, name, alias, args, key, type info]
//     link        [1, name, selections, type, plural, alias, args, key, required, catch]
//                                                           [1, name, selections, type, plural, alias, args, key]
//     fragment    [2, name, args]
//     handle                                                [2, kind, name, handle, key, alias, args, filters, handle args]
//     inline      [3, type, selections]
//     condition   [4, variable, selections, value]
//     client      [5, selections]
//     defer       [6, selections]                           [6, label, selections, if]
//     stream      [7, selections]                           [7, label, selections, if]
//     is          -                                         [8, type, key]
//     alias       [9, name, type, selections, always]
//     type info   [type, plural, non-null, enum values]
//
// A part that is absent, false or empty where that is the usual thing is 0, or left out together with all parts after
// it. A reader's definitions and name are also its operation's unless that says its own. `key` is the storage key if it
// is not the one that follows from name and arguments; the key of an abstract type is 1 if it is `__isNAME`.
//
// A change of any of this is a new version: the text is made and read by one release of this package.

/// What both sides know of the format.
enum ArtifactFormat {
    static let version = 1
    /// Selections nest, each level in two arrays.
    static let limits = JSONLimits(depth: 4096)
    static let operationKinds: [OperationKind] = [.query, .mutation, .subscription]
    static let requiredActions: [RequiredAction] = [.none, .log, .throw]
    static let catchTargets: [CatchTarget] = [.result, .null]
    static let handleKinds: [NormalizationHandle.Kind] = [.scalar, .linked]

    static func abstractKey(_ type: String) -> String { "__is" + type }
}

/// Why a text is not that of an operation or a fragment.
package struct ArtifactError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong.
    package enum Reason: Hashable, Sendable {
        /// Another release of this package made it.
        case version(Int)
        /// It is not JSON.
        case json(JSONError)
        /// It is something else than the format has there.
        case unexpected(String)
    }

    /// What is wrong.
    package var reason: Reason
    /// The operation or fragment; nil if the text does not say even that.
    package var name: String?
    /// How far the text was read, in bytes.
    package var byteOffset: Int

    package var description: String {
        let artifact = name.map { "The artifact of \"\($0)\"" } ?? "An artifact without a name"
        let what =
            switch reason {
            case .version(let version):
                "has version \(version) of the format, and this release of Relay reads "
                    + "version \(ArtifactFormat.version)"
            case .json(let error): "is damaged: \(error.description.dropLast())"
            case .unexpected(let what): "is damaged: \(what), at byte \(byteOffset)"
            }
        return "\(artifact) \(what). Compile again with this release."
    }
}

extension ConcreteRequest {
    /// An operation as the compiler writes it. Decoded here, so keep it: `static let node = …`.
    /// - Precondition: the text was made by the compiler of this release.
    public convenience init(artifact: StaticString) {
        do throws(ArtifactError) {
            try self.init(decoding: artifact.bytes)
        } catch {
            preconditionFailure(error.description)
        }
    }
}

extension ReaderFragment {
    /// A fragment as the compiler writes it. Decoded here, so keep it: `static let node = …`.
    /// - Precondition: the text was made by the compiler of this release.
    public convenience init(artifact: StaticString) {
        do throws(ArtifactError) {
            try self.init(decoding: artifact.bytes)
        } catch {
            preconditionFailure(error.description)
        }
    }
}

extension StaticString {
    /// Empty for what is a single character instead of text.
    fileprivate var bytes: UnsafeRawBufferPointer {
        hasPointerRepresentation
            ? UnsafeRawBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
            : UnsafeRawBufferPointer(start: nil, count: 0)
    }
}
