"""Database: units of work on SQLite or PostgreSQL, at the revision that the code needs.

In reading order:

- `tables`, `utc`: the tables, and the type of their instants
- `database`, `connection_options`, `database_errors`: sessions, pools and time limits, errors
- `lookup`, `user_lock`: rows by the ids that callers name, and the lock on a user
- `revision`, `migrations/`: the schema's revision, and the way from each to the next
- `backup`, `sqlite_pages`: copies of an SQLite file, and its free pages
"""
