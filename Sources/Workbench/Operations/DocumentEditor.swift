import GraphQLLanguage
import TerminalUI

/// What is to be seen of the editor.
struct EditorState: Equatable {
    var edited = EditedText(text: "", caret: 0)
    var suggestions: [DocumentCompletion.Suggestion] = []
    /// Which of them is chosen.
    var chosen = 0
    /// What is wrong with what is typed.
    var problem: String?

    var isBlank: Bool { edited.text.allSatisfy(\.isWhitespace) }

    /// The suggestions that there is room for, around the one that is chosen.
    var shownSuggestions: ArraySlice<DocumentCompletion.Suggestion> {
        let start = min(max(chosen - 2, 0), max(suggestions.count - Self.suggestionRows, 0))
        return suggestions[start..<min(start + Self.suggestionRows, suggestions.count)]
    }

    /// Which of them is chosen, if there are more than can be seen.
    var suggestionCount: String? {
        suggestions.count > Self.suggestionRows ? "\(chosen + 1) of \(suggestions.count)" : nil
    }

    var chosenSuggestion: DocumentCompletion.Suggestion? {
        suggestions.indices.contains(chosen) ? suggestions[chosen] : nil
    }

    private static let suggestionRows = 5
}

/// An operation that is being written: what is wrong with it, what could come next, and what was written before.
@MainActor
final class DocumentEditor {
    private(set) var state = EditorState() { didSet { if state != oldValue { changed() } } }
    /// Nil as long as it is not known.
    var schema: Schema? { didSet { check() } }
    private let history: OperationHistory
    private let changed: @MainActor () -> Void
    private let note: @MainActor (String) -> Void
    /// What of the document a suggestion replaces, in UTF-8 bytes.
    private var replaced = 0..<0
    /// Counts what was there to look at, and what was looked at: of several changes the last one is.
    private var revision = 0
    private var checkedRevision = 0
    private var isChecking = false
    /// Whether somebody has asked for a suggestion before it was there.
    private var awaitsSuggestion = false

    /// Longer documents, in bytes, are not looked at while they are typed.
    nonisolated private static let checkedLength = 65_536

    init(
        _ history: OperationHistory, changed: @escaping @MainActor () -> Void,
        note: @escaping @MainActor (String) -> Void
    ) {
        self.history = history
        self.changed = changed
        self.note = note
    }

    var text: String { state.edited.text }

    /// In UTF-8 bytes.
    var caretOffset: Int { text.prefix(max(state.edited.caret, 0)).utf8.count }

    // MARK: Changes

    /// Somebody has typed.
    func edit(_ edited: EditedText) {
        // What was recalled and then changed is a draft of its own.
        if edited.text != text { history.leave() }
        state.edited = edited
        check()
    }

    private func replace(with text: String, caret: Int) {
        state.edited = EditedText(text: text, caret: min(caret, text.count))
        hideSuggestions()
        check()
    }

    /// Writes an operation in place of what is there, which goes into the history.
    func replace(withOperation text: String, caret: Int) {
        guard self.text.utf8.count <= OperationHistory.lengthLimit else {
            return note("This document is too long for the history, so it stays.")
        }
        if !state.isBlank { history.append(self.text) }
        replace(with: text, caret: caret)
    }

    /// Writes something where the caret is, apart from the words around it.
    func insert(_ inserted: String, caret: Int) {
        let before = String(text.prefix(max(state.edited.caret, 0)))
        let after = String(text.dropFirst(before.count))
        let isApart = before.last.map { $0.isWhitespace || "{(".contains($0) } ?? true
        let start = before + (isApart ? "" : " ")
        let end = after.first.map(\.isWhitespace) ?? true ? "" : " "
        replace(with: start + inserted + end + after, caret: start.count + caret)
    }

    func hideSuggestions() { state.suggestions = [] }

    // MARK: Checks

    /// What there is to say of a document with a caret.
    private struct Findings: Sendable {
        var problem: String?
        var suggestions: [DocumentCompletion.Suggestion] = []
        var replaced = 0..<0
    }

    /// Looks at what is there, away from the main actor: schemas may be large.
    private func check() {
        revision += 1
        awaitsSuggestion = false
        if isChecking { return }
        isChecking = true
        Task {
            while checkedRevision != revision {
                let looked = revision
                let findings = await Self.findings(in: text, at: caretOffset, schema)
                checkedRevision = looked
                if looked == revision { use(findings) }
            }
            isChecking = false
        }
    }

    private func use(_ findings: Findings) {
        replaced = findings.replaced
        var next = state
        next.problem = findings.problem
        next.suggestions = findings.suggestions
        next.chosen = 0
        state = next
        if awaitsSuggestion, let suggestion = state.chosenSuggestion { accept(suggestion) }
        awaitsSuggestion = false
    }

    @concurrent
    private static func findings(
        in text: String, at offset: Int, _ schema: Schema?
    ) async -> Findings {
        var findings = Findings()
        guard text.utf8.count <= checkedLength, !text.allSatisfy(\.isWhitespace) else {
            return findings
        }
        do throws(DocumentError) {
            let document = try Document(parsing: text)
            findings.problem = schema.flatMap {
                document.validate(against: $0).first?.description
            }
        } catch {
            findings.problem = error.description
        }
        guard let schema, !isAfterBracket(text, offset) else { return findings }
        let completion = DocumentCompletion(of: text, at: offset, in: schema)
        findings.replaced = completion.replaced
        let written = text.utf8.dropFirst(completion.replaced.lowerBound)
            .prefix(completion.replaced.count)
        // What is written as it would be suggested needs no suggestion.
        let isComplete =
            completion.suggestions.count == 1
            && completion.suggestions.allSatisfy { written.elementsEqual($0.text.utf8) }
        if !isComplete { findings.suggestions = completion.suggestions }
        return findings
    }

    /// There, nothing is suggested until something is written: Tab goes on.
    nonisolated private static func isAfterBracket(_ text: String, _ offset: Int) -> Bool {
        let last = text.utf8.prefix(offset).last { !" \n".utf8.contains($0) }
        return last.map { "})".utf8.contains($0) } ?? true
    }

    // MARK: Keys

    /// Keys that the text has no use for.
    /// - Returns: whether the key means something here.
    func press(_ key: KeyPress) -> Bool { pressForSuggestions(key) || pressForHistory(key) }

    private func pressForSuggestions(_ key: KeyPress) -> Bool {
        // Those on the screen are of the text before the last keys; others are about to come.
        let isPending = checkedRevision != revision
        guard isPending ? schema != nil : !state.suggestions.isEmpty else { return false }
        switch key {
        case KeyPress(.tab):
            if isPending {
                awaitsSuggestion = !Self.isAfterBracket(text, caretOffset)
                return awaitsSuggestion
            }
            if let suggestion = state.chosenSuggestion { accept(suggestion) }
        case KeyPress(.escape), KeyPress(.character("n"), .control),
            KeyPress(.character("p"), .control):
            if state.suggestions.isEmpty { return false }
            if !isPending { choose(key) }
        default: return false
        }
        return true
    }

    private func choose(_ key: KeyPress) {
        switch key {
        case KeyPress(.escape): hideSuggestions()
        case KeyPress(.character("n"), .control):
            state.chosen = min(state.chosen + 1, state.suggestions.count - 1)
        default: state.chosen = max(state.chosen - 1, 0)
        }
    }

    private func pressForHistory(_ key: KeyPress) -> Bool {
        switch key {
        case KeyPress(.up, .control), KeyPress(.up, .alt), KeyPress(.character("p"), .control):
            if let earlier = history.back(from: text) {
                replace(with: earlier, caret: earlier.count)
            } else {
                note("This is the first operation of the history.")
            }
        case KeyPress(.down, .control), KeyPress(.down, .alt), KeyPress(.character("n"), .control):
            if let later = history.forward() { replace(with: later, caret: later.count) }
        case KeyPress(.character("o"), .control): replace(withOperation: "", caret: 0)
        default: return false
        }
        return true
    }

    private func accept(_ suggestion: DocumentCompletion.Suggestion) {
        let bytes = Array(text.utf8)
        guard bytes.indices.contains(replaced.lowerBound) || replaced.lowerBound == bytes.count,
            replaced.upperBound <= bytes.count
        else { return }
        let before =
            String(decoding: bytes[..<replaced.lowerBound], as: UTF8.self) + suggestion.text
        let after = String(decoding: bytes[replaced.upperBound...], as: UTF8.self)
        replace(with: before + after, caret: before.count)
    }
}
