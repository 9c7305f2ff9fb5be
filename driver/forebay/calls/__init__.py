"""The stored functions of schema forebay, a module for each role that may call them.

The connection comes first, everything else goes by name. With an AsyncConnection a call is awaited.
The caller owns the transaction: on a connection in autocommit mode each call commits by itself,
inside a transaction it commits together with the caller's own work. Any call raises the classes of
`forebay.errors`, and psycopg's own errors for everything else.
"""
