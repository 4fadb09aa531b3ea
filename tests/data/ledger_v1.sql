PRAGMA application_id = 1836608615;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE figure (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        measurement INTEGER NOT NULL REFERENCES measurement (id),
        operation TEXT NOT NULL,
        metric TEXT NOT NULL,
        value NOT NULL,              -- no type: whole numbers stay whole
        unit TEXT NOT NULL
    );
INSERT INTO "figure" VALUES(1,1,'encrypt','cycles',91,'cycles');
INSERT INTO "figure" VALUES(2,1,'encrypt','time_ns',273.0,'ns');
INSERT INTO "figure" VALUES(3,2,'encrypt','cycles',169,'cycles');
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
INSERT INTO "measurement" VALUES(1,'k1','{"flow": {}, "interface": "stream", "nbits": 32, "settings": {"nstages": 8}, "stage": "native", "subject": "mont", "workload": "encrypt"}','mont','MontMulRem',32,'{"nstages": 8}','stream','encrypt','native','{}','["modexlab", "run", "mont"]','{"verilator": "5.028"}','abababababababababababababababababababababababababababababababab','result checked against pow','[]','{"caveats": ["one corner"]}',1.25,'2026-11-20T16:00:00.000+00:00');
INSERT INTO "measurement" VALUES(2,'k2','{"flow": {}, "interface": "stream", "nbits": 32, "settings": {"nstages": 8}, "stage": "native", "subject": "mont-001", "workload": "encrypt"}','mont-001','MontMulRem',32,'{"nstages": 8}','stream','encrypt','native','{}','["modexlab", "run", "mont-001"]','{"verilator": "5.028"}','abababababababababababababababababababababababababababababababab','result checked against pow','["misses its clock"]','{"caveats": ["one corner"]}',1.25,'2026-11-20T16:00:01.000+00:00');
CREATE INDEX measurement_by_key ON measurement (key);
CREATE INDEX figure_by_measurement ON figure (measurement);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('measurement',2);
INSERT INTO "sqlite_sequence" VALUES('figure',3);
COMMIT;
