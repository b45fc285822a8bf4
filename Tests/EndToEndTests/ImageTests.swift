import Foundation
import Testing

/// What can be known of the image without building it.
@Suite struct ImageTests {
    /// A package does not build, whatever the product, if a folder that a target is in is missing.
    @Test func theImageIsBuiltFromAllFoldersWithTargets() throws {
        let top = URL(filePath: #filePath).appending(path: "../../..").standardized
        func text(_ path: String) throws -> [Substring] {
            try String(contentsOf: top.appending(path: path), encoding: .utf8).split(
                separator: "\n")
        }
        let (file, context) = (try text("Docker/Dockerfile"), try text(".dockerignore"))
        let folders = try FileManager.default.contentsOfDirectory(atPath: top.path())
            .filter { ["Plugins", "Sources", "Tests"].contains($0) }
        #expect(folders.count == 3)
        for folder in folders {
            #expect(file.contains("COPY \(folder) \(folder)"))
            #expect(context.contains("!\(folder)"))
        }
        // Those are all.
        for line in try text("Package.swift") where line.contains("path: \"") {
            #expect(folders.contains { line.contains("path: \"\($0)/") }, "\(line)")
        }
    }
}
