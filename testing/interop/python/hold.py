"""Holds each of kazoo's recipes until the end of stdin.

The arguments are the address of the server and a path. The line "held" says
that all recipes below the path are held, and wanted by another client where
somebody can wait. The test driver is inspect_test.go.
"""

import sys
import threading

from kazoo.client import KazooClient

WAIT_LIMIT = 60


def client():
    c = KazooClient(sys.argv[1], timeout=30)
    c.start(WAIT_LIMIT)
    return c


def begin(function, *args, **kwargs):
    threading.Thread(target=function, args=args, kwargs=kwargs, daemon=True).start()


def main():
    root = sys.argv[2]
    a, b = client(), client()
    a.Lock(root + "/lock", "one").acquire()
    begin(b.Lock(root + "/lock", "two").acquire)
    a.ReadLock(root + "/rw", "reader").acquire()
    begin(b.WriteLock(root + "/rw", "writer").acquire)
    a.Semaphore(root + "/semaphore", "one", max_leases=1).acquire()
    begin(b.Semaphore(root + "/semaphore", "two", max_leases=1).acquire)
    begin(a.Election(root + "/election", "leader").run, threading.Event().wait)
    a.Party(root + "/party", "member").join()
    queue = a.Queue(root + "/queue")
    queue.put(b"x")
    queue.put(b"y", priority=1)
    locking = a.LockingQueue(root + "/locking")
    locking.put(b"x")
    locking.get()
    print("held", flush=True)
    sys.stdin.read()
    for c in (a, b):
        c.stop()
        c.close()


main()
