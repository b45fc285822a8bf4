import BoundedTesting
import TerminalUI
import Testing

@MainActor @Suite(.bounded, .timeLimit(.minutes(2))) struct ViewTests {
    private func text(
        _ width: Int, _ height: Int, @ViewBuilder _ content: () -> some View
    ) -> String {
        Pilot(size: Size(width: width, height: height), content: content).text
    }

    // MARK: Text

    @Test func textIsWrappedBetweenWords() {
        #expect(
            text(12, 5) { Text("the quick brown fox jumps") } == """
                the quick
                brown fox
                jumps
                """)
    }

    @Test func aWordThatIsTooLongIsCut() {
        #expect(
            text(4, 5) { Text("abcdefghij k") } == """
                abcd
                efgh
                ij k
                """)
    }

    @Test func whatIsTooHighEndsWithAnEllipsis() {
        #expect(
            text(9, 2) { Text("one two three four five") } == """
                one two
                three fo…
                """)
    }

    @Test func linesAreKept() {
        #expect(
            text(20, 5) { Text("a\n\nb\r\nc") } == """
                a

                b
                c
                """)
    }

    @Test func controlCharactersDoNothing() {
        #expect(text(20, 2) { Text("a\u{1B}[31mb\u{7}\u{9B}c") } == "a[31mbc")
    }

    // MARK: Stacks

    @Test func aRowGivesRoomToTheShortOnesFirst() {
        #expect(
            text(20, 2) {
                HStack {
                    Text("a long text that is cut").frame(height: 1)
                    Spacer()
                    Text("end")
                }
            } == "a long text th…  end")
    }

    @Test func aSpacerTakesWhatIsLeft() {
        #expect(
            text(12, 1) {
                HStack(spacing: 0) {
                    Text("a")
                    Spacer()
                    Text("b")
                }
            } == "a          b")
        #expect(
            text(3, 4) {
                VStack {
                    Text("a")
                    Spacer()
                    Text("b")
                }
            } == "a\n\n\nb")
    }

    @Test func columnsAreAligned() {
        #expect(
            text(7, 3) {
                VStack(alignment: .trailing) {
                    Text("a")
                    Divider()
                    Text("bcd")
                }
            } == """
                      a
                ───────
                    bcd
                """)
    }

    @Test func layersCoverEachOther() {
        #expect(
            text(9, 3) {
                ZStack {
                    Text("xxxxxxxxx\nxxxxxxxxx\nxxxxxxxxx")
                    Text("hi").padding(horizontal: 1, vertical: 0)
                }
            } == """
                xxxxxxxxx
                xx hi xxx
                xxxxxxxxx
                """)
    }

    @Test func paddingAndFrames() {
        #expect(
            text(12, 5) {
                VStack {
                    Text("a").padding()
                    Text("b").frame(width: 5, alignment: .trailing)
                    Text("c").frame(maxWidth: .max, alignment: .trailing)
                }
            }
                == """


                  a

                    b
                           c
                """.dropFirst(1))
    }

    @Test func viewsOfProgramsAreTheirBodies() {
        struct Pair: View {
            let number: Int
            var body: some View {
                Text("\(number)")
                if number > 1 { Text("!") } else { Text("?") }
            }
        }
        #expect(
            text(9, 1) {
                HStack {
                    Pair(number: 1)
                    Pair(number: 2)
                }
            } == "1 ? 2 !")
    }

    @Test func aForEachIsItsViews() {
        #expect(text(9, 3) { ForEach(["a", "b"], id: \.self) { Text($0) } } == "a\nb")
    }

    @Test func progressIsABar() {
        #expect(text(10, 1) { ProgressView(value: 3, total: 10) } == "███░░░░░░░")
        #expect(text(4, 1) { ProgressView(value: .nan) } == "░░░░")
        #expect(text(4, 1) { ProgressView(value: 9, total: 0) } == "░░░░")
    }

    @Test func imagesAreSymbols() {
        #expect(
            text(9, 1) {
                HStack {
                    Image(systemName: "checkmark.square")
                    Image(systemName: "square")
                    Image(systemName: "nothing.of.this.name")
                }
            } == "☑ ☐ ◻")
    }

    @Test func aScreenWithoutRoomShowsNothing() {
        let pilot = Pilot(size: Size(width: 0, height: 0)) {
            VStack {
                Text("a")
                List { ForEach(Array(0..<10), id: \.self) { Text("\($0)") } }
                ScrollView { Text("b") }
                TextField("c", text: .constant("d"))
            }
        }
        #expect(pilot.text == "")
        pilot.press(.down)
        pilot.resize(to: Size(width: 1, height: 1))
        #expect(pilot.text == "a" || pilot.text == "…")
    }
}
