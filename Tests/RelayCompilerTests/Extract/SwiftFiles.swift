import Foundation

/// Swift files to read.
enum SwiftFiles {
    /// `Fixtures/Torture.swift.txt`: what is hard to read, and type-checks.
    static let torture = folder.appending(path: "Fixtures/Torture.swift.txt")

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    /// All of this repository.
    static func ours() throws -> [URL] {
        let root = folder.appending(path: "../../..").standardized
        let files = ["Sources", "Tests"].flatMap { name in
            FileManager.default.enumerator(
                at: root.appending(path: name), includingPropertiesForKeys: nil)?
                .compactMap { $0 as? URL } ?? []
        }
        return files.filter { $0.pathExtension == "swift" }.sorted { $0.path < $1.path }
    }
}
