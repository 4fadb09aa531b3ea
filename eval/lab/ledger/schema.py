"""The ledger's schema by version; new and old files go through the same migrations.

A released step is never edited: a newer version appends a step of its own.
"""

import sqlite3

from ....fl.errors import BadInput

APPLICATION_ID = 0x6D786C67  # "mxlg" in the header of the file marks a ledger

STEPS = (
    # 1: figures
    """
    CREATE TABLE measurement (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        key TEXT NOT NULL,           -- of the point, its operands, the sources and the tools
        point TEXT NOT NULL,         -- JSON, from which it can be measured again
        subject TEXT NOT NULL,
        family TEXT NOT NULL,
        nbits INTEGER NOT NULL,
        parameters TEXT NOT NULL,    -- JSON: all of them, the defaults too
        interface TEXT NOT NULL,
        workload TEXT NOT NULL,
        stage TEXT NOT NULL,
        flow TEXT NOT NULL,          -- JSON
        command TEXT NOT NULL,       -- JSON: a list of words
        tools TEXT NOT NULL,         -- JSON: versions by name
        verilog_hash TEXT NOT NULL,
        tests TEXT NOT NULL CHECK (tests <> ''),
        marks TEXT NOT NULL,         -- JSON: a list
        details TEXT NOT NULL,       -- JSON
        seconds REAL NOT NULL,
        at TEXT NOT NULL             -- ISO 8601, UTC
    );
    CREATE INDEX measurement_by_key ON measurement (key);
    CREATE TABLE figure (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        measurement INTEGER NOT NULL REFERENCES measurement (id),
        operation TEXT NOT NULL,
        metric TEXT NOT NULL,
        value NOT NULL,              -- no type: whole numbers stay whole
        unit TEXT NOT NULL
    );
    CREATE INDEX figure_by_measurement ON figure (measurement);
    """,
    # 2: points that could not be measured, and pictures
    """
    CREATE TABLE failure (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        key TEXT NOT NULL,
        point TEXT NOT NULL,
        command TEXT NOT NULL,
        message TEXT NOT NULL,
        seconds REAL NOT NULL,
        at TEXT NOT NULL
    );
    CREATE INDEX failure_by_key ON failure (key);
    CREATE TABLE artifact (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        measurement INTEGER NOT NULL REFERENCES measurement (id),
        name TEXT NOT NULL,
        content BLOB NOT NULL,
        UNIQUE (measurement, name)
    );
    """,
    # 3: merged measurements that are older than one of the same point
    """
    ALTER TABLE measurement ADD COLUMN older INTEGER NOT NULL DEFAULT 0;
    """,
    # 4: digests, which reveal bits that have changed on the disk; NULL in measurements of older versions
    """
    ALTER TABLE measurement ADD COLUMN digest TEXT;
    """,
    # 5: verdicts (verdicts.py)
    """
    CREATE TABLE verdict (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        key TEXT NOT NULL,           -- of the machine, the sources and the tools
        subject TEXT NOT NULL,
        family TEXT NOT NULL,
        nbits INTEGER NOT NULL,
        settings TEXT NOT NULL,      -- JSON
        name TEXT NOT NULL,          -- of the check
        kind TEXT NOT NULL,
        verdict TEXT NOT NULL,
        how TEXT NOT NULL,
        seconds REAL NOT NULL,
        at TEXT NOT NULL
    );
    CREATE INDEX verdict_by_subject ON verdict (subject, nbits);
    """,
    # 6: digests of failures and verdicts; NULL as above
    """
    ALTER TABLE failure ADD COLUMN digest TEXT;
    ALTER TABLE verdict ADD COLUMN digest TEXT;
    """,
    # 7: results of other tasks of campaigns (campaign.py)
    """
    CREATE TABLE result (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        key TEXT NOT NULL,           -- of the task, the sources and the tools
        result TEXT NOT NULL,        -- JSON
        seconds REAL NOT NULL,
        at TEXT NOT NULL,
        digest TEXT NOT NULL
    );
    CREATE INDEX result_by_key ON result (key);
    """,
)
VERSION = len(STEPS)


def version_of(connection: sqlite3.Connection, path: object) -> int:
    """The version of this file, 0 if it is empty; BadInput if it is no ledger, or from a newer modexlab."""
    inside = connection.in_transaction
    if not inside:
        connection.execute("BEGIN")  # one snapshot of all three, even while another process creates the file
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not inside:
        connection.execute("COMMIT")
    if application != APPLICATION_ID and (application or version or tables):
        raise BadInput(f"{path} is a database, but no ledger of modexlab; give another file")
    if version < 0:
        raise sqlite3.DatabaseError(f"user_version is {version}")
    if version > VERSION:
        raise BadInput(
            f"the ledger {path} has version {version}, from a newer modexlab, and this one knows {VERSION}; "
            "update modexlab, or give another file"
        )
    return version


def migrate(connection: sqlite3.Connection, path: object) -> None:
    """Migrate the file to the current version in one transaction, safe against processes that open it
    meanwhile.
    """
    connection.execute("BEGIN IMMEDIATE")
    for step in STEPS[version_of(connection, path) :]:
        for statement in step.split(";\n"):  # executescript() would commit
            if statement.strip():
                connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")
