// GraphQLTransportWS
