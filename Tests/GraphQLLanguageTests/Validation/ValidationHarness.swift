import Testing

@testable import GraphQLLanguage

/// Expects that all rules together find exactly these errors, one a line, whatever their order.
func expectErrors(
    in text: String, of schema: Schema = animals, _ expected: String,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
    do {
        let errors = try Document(parsing: text).validate(against: schema)
        #expect(
            errors.map(\.description).sorted()
                == expected.split(separator: "\n").map(String.init).sorted(),
            sourceLocation: sourceLocation)
    } catch {
        Issue.record("\(error)", sourceLocation: sourceLocation)
    }
}

/// The schema that the tests of the rules share: interfaces that overlap in many ways, and
/// arguments of every kind.
let animals = schema(
    """
    interface Being { name(surname: Boolean): String }
    interface Mammal { mother: Mammal father: Mammal }
    interface Pet implements Being { name(surname: Boolean): String }
    interface Canine implements Mammal & Being { name(surname: Boolean): String mother: Canine father: Canine }
    enum DogCommand { SIT HEEL DOWN }
    type Dog implements Being & Pet & Mammal & Canine {
      name(surname: Boolean): String nickname: String barkVolume: Int barks: Boolean
      doesKnowCommand(dogCommand: DogCommand): Boolean isHouseTrained(atOtherHomes: Boolean = true): Boolean
      isAtLocation(x: Int, y: Int): Boolean mother: Dog father: Dog
    }
    type Cat implements Being & Pet { name(surname: Boolean): String nickname: String meows: Boolean meowsVolume: Int furColor: FurColor }
    union CatOrDog = Cat | Dog
    type Human implements Being { name(surname: Boolean): String pets: [Pet] relatives: [Human]! iq: Int }
    enum FurColor { BROWN BLACK TAN SPOTTED NO_FUR UNKNOWN }
    input ComplexInput { requiredField: Boolean! nonNullField: Boolean! = false intField: Int stringField: String booleanField: Boolean stringListField: [String] nested: ComplexInput }
    type ComplicatedArgs {
      intArgField(intArg: Int): String nonNullIntArgField(nonNullIntArg: Int!): String stringArgField(stringArg: String): String
      booleanArgField(booleanArg: Boolean): String enumArgField(enumArg: FurColor): String floatArgField(floatArg: Float): String idArgField(idArg: ID): String
      stringListArgField(stringListArg: [String]): String stringListNonNullArgField(stringListNonNullArg: [String!]): String
      complexArgField(complexArg: ComplexInput): String multipleReqs(req1: Int!, req2: Int!): String nonNullFieldWithDefault(arg: Int! = 0): String
      multipleOpts(opt1: Int = 0, opt2: Int = 0): String multipleOptAndReq(req1: Int!, req2: Int!, opt1: Int = 0, opt2: Int = 0): String anyArgField(any: Any): String listList(a: [[Int!]]): String
    }
    scalar Any
    type QueryRoot { human(id: ID): Human dog: Dog cat: Cat pet: Pet catOrDog: CatOrDog complicatedArgs: ComplicatedArgs being: Being canine: Canine dogs: [Dog!]! iq: Int! }
    type SubscriptionRoot { catSubscribe: Cat dogSubscribe: Dog humanSubscribe: Human }
    schema { query: QueryRoot subscription: SubscriptionRoot }
    directive @onQuery on QUERY
    directive @onField(a: Int!, b: String) on FIELD
    directive @rep(n: Int) repeatable on FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT | FRAGMENT_DEFINITION | VARIABLE_DEFINITION | SUBSCRIPTION
    """)

/// A schema with a field that can be asked for in one of two ways.
let oneOf = schema(
    """
    input By @oneOf { id: ID name: String }
    type Query { choose(by: By!): Int }
    """)

private func schema(_ text: String) -> Schema {
    do {
        return try Schema.build(text)
    } catch {
        preconditionFailure("The schema of the tests is wrong: \(error)")
    }
}
