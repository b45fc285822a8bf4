import Foundation

/// The todo example, which the documents beside this file are for.
package enum TodoExample {
    /// A file of `docs/examples`.
    package static func file(_ name: String) throws -> [UInt8] {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return Array(try Data(contentsOf: root.appending(path: "docs/examples/\(name)")))
    }
}
