extension Schema {
    /// An operation that asks a server for its whole schema. `Schema.build(introspection:)` takes
    /// the answer.
    package static let introspectionQuery = introspectionQuery { $0 }

    /// The same for servers that know no more than the edition of 2018.
    package static let plainIntrospectionQuery = introspectionQuery { _ in "" }

    /// - Parameter newer: what becomes of what later editions have brought.
    private static func introspectionQuery(_ newer: (String) -> String) -> String {
        """
        query IntrospectionQuery {
          __schema {
            \(newer("description"))
            queryType { name }
            mutationType { name }
            subscriptionType { name }
            types { ...FullType }
            directives {
              name
              description
              \(newer("isRepeatable"))
              locations
              args\(newer("(includeDeprecated: true)")) { ...InputValue }
            }
          }
        }

        fragment FullType on __Type {
          kind
          name
          description
          \(newer("specifiedByURL isOneOf"))
          fields(includeDeprecated: true) {
            name
            description
            args\(newer("(includeDeprecated: true)")) { ...InputValue }
            type { ...TypeRef }
            isDeprecated
            deprecationReason
          }
          inputFields\(newer("(includeDeprecated: true)")) { ...InputValue }
          interfaces { name }
          enumValues(includeDeprecated: true) {
            name
            description
            isDeprecated
            deprecationReason
          }
          possibleTypes { name }
        }

        fragment InputValue on __InputValue {
          name
          description
          type { ...TypeRef }
          defaultValue
          \(newer("isDeprecated deprecationReason"))
        }

        fragment TypeRef on __Type {
          kind
          name
          ofType {
            kind
            name
            ofType {
              kind
              name
              ofType {
                kind
                name
                ofType {
                  kind
                  name
                  ofType {
                    kind
                    name
                    ofType {
                      kind
                      name
                      ofType { kind name ofType { kind name } }
                    }
                  }
                }
              }
            }
          }
        }
        """
    }
}
