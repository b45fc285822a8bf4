// A store is made of records: a program that imports it needs their ids, values and proxies.
@_exported public import RelayReading
@_exported @_spi(Rooms) public import RelayRecords
