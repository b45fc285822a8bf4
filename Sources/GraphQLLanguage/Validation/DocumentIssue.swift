/// What is wrong with a document, and where, before the locations are resolved to lines and columns.
package struct DocumentIssue: Hashable, Sendable {
    package let message: String
    package let locations: [Int]
    /// For `extensions.code`, if set.
    package let code: String?

    package init(_ message: String, at locations: [Int], code: String? = nil) {
        self.message = message
        self.locations = locations
        self.code = code
    }

    package init(_ message: String, at location: Int) {
        self.init(message, at: [location])
    }
}
