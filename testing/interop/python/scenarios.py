"""Runs scenarios with kazoo's locks, for benchmarks.

The arguments are the address of the server and the session's timeout in
milliseconds. Each line on stdin is a number and a command:

acquire NAME PATH MS
    ok
scenario NAME PATH TIMES
    ok NANOSECONDS: see bench_scenarios_real_test.go

The answer is a line with the number and "ok" or "error". The line "0 ok" says
that there is a session. The program ends with stdin. The test driver is
bench_peers_test.go.
"""

import sys
import threading
import time

from kazoo.client import KazooClient

WAIT_LIMIT = 60
QUEUES = 0.15  # seconds that a client has queued before the other one releases

clients = []
objects = {}  # by their names: they live from one round to the next


def client(i):
    while len(clients) <= i:
        c = KazooClient(sys.argv[1], timeout=int(sys.argv[2]) / 1000)
        c.start(WAIT_LIMIT)
        clients.append(c)
    return clients[i]


def lock(i, path):
    return kept(("lock", i, path), lambda: client(i).Lock(path))


def kept(name, make):
    if name not in objects:
        objects[name] = make()
    return objects[name]


def together(n, function):
    """Runs n threads, and returns the nanoseconds until all of them are done."""
    errors = []

    def run(i):
        try:
            function(i)
        except Exception as e:
            errors.append(e)

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(n)]
    start = time.perf_counter_ns()
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    took = time.perf_counter_ns() - start
    if errors:
        raise errors[0]
    return took


def cycles(lock, times):
    for _ in range(times):
        lock.acquire()
        lock.release()


def hand_overs(locks, times):
    meet = threading.Barrier(2)
    released, granted = [0] * times, [0] * times

    def run(i):
        own = locks[i]
        if i == 0:
            own.acquire()
        for n in range(times):
            meet.wait()
            if n % 2 == i:
                time.sleep(QUEUES)
                released[n] = time.perf_counter_ns()
                own.release()
            else:
                own.acquire()
                granted[n] = time.perf_counter_ns()
        meet.wait()
        if times % 2 == i:
            own.release()

    together(2, run)
    return sum(granted) - sum(released)


def tries(holder, other, times):
    holder.acquire()
    start = time.perf_counter_ns()
    for _ in range(times):
        if other.acquire(blocking=False):
            raise RuntimeError("two hold the lock")
    took = time.perf_counter_ns() - start
    holder.release()
    return took


def scenario(name, path, times):
    if name == "one":
        one = lock(0, path)
        return together(1, lambda i: cycles(one, times))
    if name == "sessions":
        locks = [lock(i, path) for i in range(8)]
        return together(8, lambda i: cycles(locks[i], times))
    if name == "hand-over":
        return hand_overs([lock(i, path) for i in range(2)], times)
    if name == "try":
        return tries(lock(0, path), lock(1, path), times)
    if name == "semaphore":
        # Two threads cannot share one: it has one lease.
        own = [
            kept(("semaphore", i, path), lambda: client(i % 8).Semaphore(path, max_leases=8))
            for i in range(64)
        ]
        return together(64, lambda i: cycles(own[i], times))
    raise ValueError("no such scenario: " + name)


def obey(command, name, path, number):
    if command == "acquire":
        client(0).Lock(path).acquire()
        return "ok"
    if command == "scenario":
        return "ok %d" % scenario(name, path, int(number))
    raise ValueError("no such command: " + command)


def main():
    client(0)
    print("0 ok", flush=True)
    for line in sys.stdin:
        number, *words = line.split()
        try:
            answer = obey(*words)
        except Exception as e:
            answer = "error " + " ".join(repr(e).split())
        print(number, answer, flush=True)
    for c in clients:
        c.stop()
        c.close()


main()
