/// What a server says beside the rows, or in place of them.
package struct PostgreSQLNotice: Sendable, Hashable {
    /// `ERROR`, `FATAL`, `WARNING`, `NOTICE` and so on, in English.
    package let severity: String
    package let sqlState: SQLState?
    package let message: String
    package let detail: String?
    let hint: String?
    /// The function of the server's source that says it.
    package let function: String?

    init(_ result: LibPQ.Result?, _ library: LibPQ) {
        func field(_ code: Int32) -> String? {
            library.errorField(result, code).map { String(cString: $0) }
        }
        severity = field(LibPQField.severity) ?? ""
        sqlState = field(LibPQField.sqlState).map { SQLState(rawValue: $0) }
        message = field(LibPQField.message) ?? ""
        detail = field(LibPQField.detail)
        hint = field(LibPQField.hint)
        function = field(LibPQField.function)
    }

    /// All of it, in a line.
    var text: String {
        let state = sqlState.map { " (SQLSTATE \($0.rawValue))" } ?? ""
        return ([message + state] + [detail, hint].compactMap { $0 }).joined(separator: "; ")
    }
}

/// The warnings of one statement. Only the newest are kept.
final class NoticeBox {
    private(set) var all: [PostgreSQLNotice] = []

    private static let limit = 16

    func removeAll() { all = [] }

    private func append(_ notice: PostgreSQLNotice) {
        if all.count == Self.limit { all.removeFirst() }
        all.append(notice)
    }

    /// What libpq calls, on the thread that uses the connection.
    static func receive(_ box: UnsafeMutableRawPointer?, _ result: LibPQ.Result?) {
        guard let box, case .success(let library) = LibPQ.shared else { return }
        let notice = PostgreSQLNotice(result, library)
        guard notice.severity == "WARNING" else { return }
        Unmanaged<NoticeBox>.fromOpaque(box).takeUnretainedValue().append(notice)
    }
}
