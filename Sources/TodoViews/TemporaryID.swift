import Foundation

/// Ids of todos that the server has not named yet. With a store on disk they may outlive the program.
enum TemporaryID {
    private static let prefix = "new:"

    static func next() -> String { prefix + UUID().uuidString }

    static func isTemporary(_ id: String) -> Bool { id.hasPrefix(prefix) }
}
