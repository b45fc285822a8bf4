/// The Swift sources and `.graphql` files in some folders and the folders in them, each once, whatever ways lead to it.
///
/// Hidden files and folders are left out, and so are generated files, FIFOs and the like.
struct SourceWalk {
    /// Sorted.
    private(set) var files: [String] = []
    private var knownFolders: Set<FileStatus.Identity> = []
    private var knownFiles: Set<FileStatus.Identity> = []
    /// Links met on the way. They come last: a file is called by its own name if that is in one of the folders.
    private var links: [String] = []

    /// - Parameter folders: may be in each other.
    init(_ folders: [String]) throws(FileFailure) {
        for folder in folders {
            guard let status = FileStatus(folder) else {
                throw FileFailure("There is no folder \(folder).")
            }
            guard case .folder = status.kind else {
                throw FileFailure("\(folder) is not a folder.")
            }
            if knownFolders.insert(status.identity).inserted { try walk(folder) }
        }
        // In a folder that a link leads to there may be others.
        while !links.isEmpty {
            let found = links
            links = []
            for link in found { try visit(link, isLink: true) }
        }
        files.sort()
    }

    private mutating func walk(_ folder: String) throws(FileFailure) {
        for name in try ProjectFiles.names(in: folder) where !name.hasPrefix(".") {
            let path = ProjectFiles.join(folder, name)
            if FileStatus.isLink(path) {
                links.append(path)
            } else {
                try visit(path, isLink: false)
            }
        }
    }

    private mutating func visit(_ path: String, isLink: Bool) throws(FileFailure) {
        let isSource =
            path.hasSuffix(".swift") && !path.hasSuffix(".graphql.swift")
            || path.hasSuffix(".graphql")
        guard let status = FileStatus(path) else {
            if !isSource { return }
            if isLink { throw .nothingBehindLink(path) }
            // Anything else is gone again.
            if path.contains("\u{FFFD}") {
                throw FileFailure("The name of \(path) is not UTF-8. Rename the file.")
            }
            return
        }
        switch status.kind {
        case .folder:
            if knownFolders.insert(status.identity).inserted { try walk(path) }
        case .file:
            if isSource, knownFiles.insert(status.identity).inserted { files.append(path) }
        case .other: break
        }
    }
}
