/// The lexical tokens of GraphQL §2.1.6, plus the ends of the document.
enum TokenKind: UInt8 {
    case startOfFile
    case endOfFile
    case bang
    case dollar
    case ampersand
    case leftParenthesis
    case rightParenthesis
    case spread
    case colon
    case equals
    case at
    case leftBracket
    case rightBracket
    case leftBrace
    case pipe
    case rightBrace
    case name
    case int
    case float
    case string
    case blockString

    /// The name of this kind in error messages: punctuators in quotes, the others by name.
    var description: String {
        switch self {
        case .startOfFile: "<SOF>"
        case .endOfFile: "<EOF>"
        case .bang: "\"!\""
        case .dollar: "\"$\""
        case .ampersand: "\"&\""
        case .leftParenthesis: "\"(\""
        case .rightParenthesis: "\")\""
        case .spread: "\"...\""
        case .colon: "\":\""
        case .equals: "\"=\""
        case .at: "\"@\""
        case .leftBracket: "\"[\""
        case .rightBracket: "\"]\""
        case .leftBrace: "\"{\""
        case .pipe: "\"|\""
        case .rightBrace: "\"}\""
        case .name: "Name"
        case .int: "Int"
        case .float: "Float"
        case .string: "String"
        case .blockString: "BlockString"
        }
    }
}

/// One token: its kind and its bytes.
struct Token {
    var kind: TokenKind
    /// Offset of the first byte.
    var start: Int
    /// Offset after the last byte.
    var end: Int
}
