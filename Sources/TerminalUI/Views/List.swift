/// Rows below each other, as many as fit. Only those that can be seen exist: how many there are costs nothing.
///
/// Up, Down, Page Up, Page Down, Home and End go from row to row, Left and Right from control to control in one. Keys go
/// to the row: a row without controls has the focus itself. Rows that leave the screen lose their `@State`.
public struct List<Content: View>: PrimitiveView {
    private let content: Content

    /// - Parameter content: the rows; a ``ForEach`` is one row for each element.
    public init(@ViewBuilder content: () -> Content) { self.content = content() }

    /// - Parameters:
    ///   - data: the elements.
    ///   - content: the row of one.
    public init<Data: RandomAccessCollection, Row: View>(
        _ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Row
    ) where Data.Element: Identifiable, Content == ForEach<Data, Data.Element.ID, Row> {
        self.content = ForEach(data, content: content)
    }

    package func makeNode(_ context: ViewContext) -> ListNode { ListNode(context) }
    package func update(_ node: ListNode, _ context: ViewContext) { node.update(content) }
}
