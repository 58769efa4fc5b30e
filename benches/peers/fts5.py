"""Times SQLite FTS5 (bm25) over sections. Reads {"sections": [[path, title, heading, text], ...], "queries": [...]} on
standard input, writes seconds for each query and round as a JSON array. The best eight are fetched with a snippet."""

import json
import re
import sqlite3
import sys
import time

ROUNDS = 3

given = json.load(sys.stdin)
db = sqlite3.connect(":memory:")
db.execute("create virtual table s using fts5(path unindexed, title, heading, text, "
           "tokenize = 'porter unicode61 remove_diacritics 2')")
db.executemany("insert into s values (?, ?, ?, ?)", given["sections"])
db.execute("insert into s(s) values ('optimize')")
db.commit()
times = []
for _ in range(ROUNDS):
    for query in given["queries"]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        start = time.perf_counter()
        db.execute("select path, title, heading, snippet(s, 3, '', '', '...', 32) from s where s match ? "
                   "order by bm25(s, 0, 2, 5, 1) limit 8", (words,)).fetchall()
        times.append(time.perf_counter() - start)
json.dump(times, sys.stdout)
