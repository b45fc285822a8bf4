// Documents that use every construct of the language once, as the printer writes them.

let executableKitchenSink = #"""
    """Everything an operation can have."""
    query Everything(
      "which one"
      $id: ID!
      $sizes: [[Int!]!] = [[1], []]
      $filter: Filter = {text: "a\"b", nested: {on: null}} @old
    ) @cached(ttl: 30.5e1) {
      me: node(id: $id) {
        __typename
        ... on User @include(if: true) {
          ...UserParts @hint(size: 64, tags: ["x", ENUM, -1, $id])
          search(first: 1000000, after: "a cursor", flag: false) {
            cursor
          }
          wrapped(
            text: "an argument list that does not fit on a line of eighty characters"
            second: [true, false, null]
          )
        }
        ... @skip(if: false) {
          id
        }
        ... {
          id
        }
      }
    }

    mutation M {
      a(input: {})
    }

    subscription S($v: Int) {
      s(text: """
      block
        string with \""" inside
      """)
    }

    "A fragment."
    fragment UserParts on User @deferred {
      name
    }

    {
      shorthand
    }
    """#

let typeSystemKitchenSink = #"""
    """The schema."""
    schema @onSchema {
      query: Query
      mutation: Mutation
    }

    extend schema @onSchema {
      subscription: Subscription
    }

    scalar Url @specifiedBy(url: "https://example.com/url")

    extend scalar Url @onScalar

    """
    An object,
    described on lines.
    """
    type Thing implements Node & Named @onObject {
      id: ID!
      """its name"""
      name(
        "language"
        in: Language! = EN
        fallback: [Language!]
      ): String @deprecated(reason: "old")
      list(first: Int = 3, filter: Filter = {deep: {text: ""}}): [[Thing!]!]!
    }

    type Empty

    extend type Thing implements More {
      more: String
    }

    extend type Thing @onObject

    interface Named implements Node @onInterface {
      id: ID!
      name(in: Language! = EN, fallback: [Language!]): String
    }

    extend interface Named {
      extra: Int
    }

    union Any @onUnion = Thing | Other

    union Nothing

    extend union Any = More

    enum Language @onEnum {
      EN @onValue
      """french"""
      FR
    }

    extend enum Language {
      DE
    }

    input Filter @oneOf {
      text: String = "a" @onInput
      deep: Filter
    }

    extend input Filter {
      other: Int
    }

    """A directive."""
    directive @onSchema(
      "why"
      reason: String
    ) repeatable on SCHEMA | FIELD

    directive @onScalar(a: Int = 1, b: [Int] @onInput) on SCALAR
    """#
