# Asks a database on a host, as `database.rs` does here: read only, at one moment, and nothing is created beside it. Each row
# is printed as a line of JSON, and at the end a word for how it ended.
import os, sqlite3, stat, time, urllib.parse

BUSY, LATE, DONE = "busy", "late", "done"


def size(end):
    try:
        return os.lstat(asked["path"] + end).st_size
    except OSError:
        return None


def how():
    """What else SQLite is told, so that it creates nothing; None when the database cannot be read so now."""
    with open(asked["path"], "rb") as file:
        file.seek(18)
        if file.read(1) != b"\2":
            return ""
    log, index = size("-wal"), size("-shm")
    if log is not None and index is not None:
        return "&readonly_shm=1"
    return None if log else "&immutable=1"


def answer():
    about = os.lstat(asked["path"])
    if not stat.S_ISREG(about.st_mode) or about.st_uid != os.getuid() or how() is None:
        return BUSY
    end = time.monotonic() + asked["longest"]
    address = "file:" + urllib.parse.quote(asked["path"]) + "?mode=ro" + how()
    database = sqlite3.connect(address, asked["busy"], uri=True, isolation_level=None)
    database.text_factory = lambda text: text.decode("utf-8", "replace")
    database.set_progress_handler(lambda: time.monotonic() > end, 10_000)
    database.execute("PRAGMA query_only = 1")
    database.execute("PRAGMA trusted_schema = 0")
    database.execute("BEGIN")
    put, room = {"directory": asked["directory"], "began": asked["began"], "session": None}, asked["bytes"]
    for query in asked["queries"]:
        if time.monotonic() > end:
            return LATE
        try:
            found = database.execute(query, put)
            names = [column[0] for column in found.description]
            for values in found.fetchmany(asked["rows"]):
                row = {name: None if isinstance(value, bytes) else value for name, value in zip(names, values)}
                put["session"] = row.get("session", put["session"])
                line = json.dumps(row)
                room -= len(line)
                if room < 0:
                    return LATE
                print(line)
        except sqlite3.Error as error:
            if "interrupted" in str(error):
                return LATE
            if any(word in str(error) for word in ("locked", "busy", "unable to open", "readonly")):
                return BUSY
            # A question that fits another version of the database has no answer.
    return DONE


try:
    print(answer())
except (OSError, sqlite3.Error):
    print(BUSY)
