"""Runs kazoo's recipes, each as a scenario with several clients.

The only argument is the address of the server. For each scenario one line says
"ok NAME" or "error NAME: PROBLEM". The last line is "end". The test driver is
kazoo_test.go.
"""

import sys
import threading
import time
import traceback
import uuid

from kazoo import exceptions, security
from kazoo.client import KazooClient, KazooState, TransactionRequest
from kazoo.recipe.lease import NonBlockingLease

ADDRESS = sys.argv[1]
WAIT_LIMIT = 60


class Scene:
    """The clients and threads of one scenario, and its own path."""

    def __init__(self):
        self.path = "/kazoo-" + uuid.uuid4().hex
        self.clients = []
        self.threads = []

    def client(self, **options):
        client = KazooClient(ADDRESS, timeout=30, **options)
        client.start(WAIT_LIMIT)
        self.clients.append(client)
        return client

    def run(self, function, *args):
        """Runs function in a thread.

        The method wait() of the result returns the function's result, or raises
        its exception.
        """
        task = Task(function, args)
        self.threads.append(task)
        task.start()
        return task

    def close(self):
        for client in self.clients:
            client.stop()
            client.close()


class Task(threading.Thread):
    def __init__(self, function, args):
        super().__init__(daemon=True)
        self.function, self.args, self.result, self.error = function, args, None, None

    def run(self):
        try:
            self.result = self.function(*self.args)
        except Exception as error:  # raised by wait
            self.error = error

    def wait(self):
        self.join(WAIT_LIMIT)
        assert not self.is_alive(), "has not ended in time"
        if self.error:
            raise self.error
        return self.result


def eventually(condition, what):
    end = time.monotonic() + WAIT_LIMIT
    while not condition():
        assert time.monotonic() < end, "waited too long for " + what
        time.sleep(0.005)


def raises(error, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except error as raised:
        return raised
    raise AssertionError("%s not raised" % error.__name__)


def expire(client):
    """Ends the client's session on the server.

    A second client takes the session over and closes it. It repeats that if the
    first client has taken the session back meanwhile.
    """
    lost, session = threading.Event(), client.client_id
    client.add_listener(lambda state: lost.set() if state == KazooState.LOST else None)
    end = time.monotonic() + WAIT_LIMIT
    while not lost.is_set():
        assert time.monotonic() < end, "the session is not lost"
        second = KazooClient(ADDRESS, client_id=session)
        second.start(WAIT_LIMIT)
        second.stop()
        second.close()
        lost.wait(1)


def basics(s):
    a, b = s.client(), s.client()
    assert a.ensure_path(s.path) and a.exists(s.path)
    assert a.create(s.path + "/n", b"1") == s.path + "/n"
    assert a.create(s.path + "/e-", b"", ephemeral=True, sequence=True) == s.path + "/e-0000000001"
    path, stat = a.create(s.path + "/with/stat", b"22", makepath=True, include_data=True)
    assert path == s.path + "/with/stat" and stat.dataLength == 2 and stat.version == 0
    data, stat = b.get(s.path + "/n")
    assert data == b"1" and stat.version == 0 and stat.czxid == stat.mzxid
    assert b.set(s.path + "/n", b"two").version == 1
    raises(exceptions.BadVersionError, b.set, s.path + "/n", b"three", version=0)
    raises(exceptions.NoNodeError, b.get, s.path + "/none")
    raises(exceptions.NodeExistsError, b.create, s.path + "/n")
    raises(exceptions.NotEmptyError, b.delete, s.path)
    raises(exceptions.NoChildrenForEphemeralsError, b.create, s.path + "/e-0000000001/x")
    names, stat = b.get_children(s.path, include_data=True)
    assert sorted(names) == ["e-0000000001", "n", "with"] and stat.numChildren == 3 and stat.cversion == 3
    assert b.sync(s.path) == s.path
    assert a.create(s.path + "/empty") and a.get(s.path + "/empty")[0] == b""
    b.delete(s.path, recursive=True)
    assert a.exists(s.path) is None


def chroot(s):
    a, b = s.client(), s.client()
    b.chroot = s.path
    b.ensure_path("/")
    b.create("/inside", b"x")
    assert a.get(s.path + "/inside")[0] == b"x" and b.get_children("/") == ["inside"]


def commands(s):
    a = s.client()
    assert a.command() == "imok"
    assert a.server_version()[:2] >= (3, 8)
    assert "Mode: standalone" in a.command(b"srvr")
    assert a.get("/zookeeper/config")[0] is not None


def watches(s):
    a, b = s.client(), s.client()
    a.ensure_path(s.path)
    events = []
    b.exists(s.path + "/n", watch=events.append)
    b.get_children(s.path, watch=events.append)
    a.create(s.path + "/n")
    eventually(lambda: len(events) == 2, "two events")
    assert sorted(e.type for e in events) == ["CHILD", "CREATED"], events
    b.get(s.path + "/n", watch=events.append)
    a.set(s.path + "/n", b"x")
    eventually(lambda: len(events) == 3, "the third event")
    b.get(s.path + "/n", watch=events.append)
    a.delete(s.path + "/n")
    eventually(lambda: len(events) == 4, "the fourth event")
    assert [e.type for e in events[2:]] == ["CHANGED", "DELETED"], events


def data_and_children_watch(s):
    a, b = s.client(), s.client()
    seen, lists = [], []
    b.DataWatch(s.path, lambda data, stat: seen.append(data))
    a.create(s.path, b"one")
    eventually(lambda: seen[-1:] == [b"one"], "the first data")
    b.ChildrenWatch(s.path, lambda names: lists.append(sorted(names)))
    for i in range(3):
        a.set(s.path, b"%d" % i)
        a.create(s.path + "/%d" % i)
        names = [str(n) for n in range(i + 1)]
        eventually(lambda: seen[-1] == b"%d" % i and lists[-1] == names, "change %d" % i)
    a.delete(s.path, recursive=True)
    eventually(lambda: seen[-1] is None, "the end")


def lock(s):
    clients = [s.client() for _ in range(3)]
    inside, entries = [], []

    def work(client, name):
        for _ in range(10):
            with client.Lock(s.path, name):
                inside.append(name)
                assert inside == [name], inside
                entries.append(name)
                inside.remove(name)

    tasks = [s.run(work, client, "c%d-%d" % (i, j)) for i, client in enumerate(clients) for j in range(2)]
    for task in tasks:
        task.wait()
    assert len(entries) == 60
    a, b = clients[0].Lock(s.path, "a"), clients[1].Lock(s.path, "b")
    assert a.acquire() and not b.acquire(blocking=False)
    raises(exceptions.LockTimeout, b.acquire, timeout=0.1)
    assert a.contenders() == ["a"]
    a.release()
    assert b.acquire()
    b.release()


def read_write_lock(s):
    a, b, c = s.client(), s.client(), s.client()
    one, two, writer = a.ReadLock(s.path, "one"), b.ReadLock(s.path, "two"), c.WriteLock(s.path, "writer")
    assert one.acquire() and two.acquire() and not writer.acquire(blocking=False)
    waiting = s.run(writer.acquire)
    eventually(lambda: len(a.get_children(s.path)) == 3, "the writer in the queue")
    one.release()
    two.release()
    assert waiting.wait()
    assert not one.acquire(blocking=False)
    writer.release()


def semaphore(s):
    clients = [s.client() for _ in range(4)]
    guard, now, most = threading.Lock(), [0], [0]

    def work(client):
        for _ in range(5):
            with client.Semaphore(s.path, max_leases=2):
                with guard:
                    now[0] += 1
                    most[0] = max(most[0], now[0])
                time.sleep(0.002)
                with guard:
                    now[0] -= 1

    for task in [s.run(work, client) for client in clients]:
        task.wait()
    assert most[0] <= 2, most
    one, two, three = [client.Semaphore(s.path, max_leases=2) for client in clients[:3]]
    assert one.acquire() and two.acquire() and not three.acquire(blocking=False)
    assert len(clients[3].Semaphore(s.path, max_leases=2).lease_holders()) == 2
    two.release()
    assert three.acquire()


def election(s):
    clients = [s.client() for _ in range(3)]
    leaders, leading, step = [], threading.Semaphore(0), threading.Semaphore(0)

    def lead(name):
        leaders.append(name)
        leading.release()
        assert step.acquire(timeout=WAIT_LIMIT)

    elections = [c.Election(s.path, "c%d" % i) for i, c in enumerate(clients)]
    tasks = []
    for i, e in enumerate(elections):
        tasks.append(s.run(e.run, lead, "c%d" % i))
        eventually(lambda: len(e.contenders()) == i + 1, "candidate %d" % i)
    for i in range(3):
        assert leading.acquire(timeout=WAIT_LIMIT)
        assert len(leaders) == i + 1, leaders
        step.release()
    for task in tasks:
        task.wait()
    assert leaders == ["c0", "c1", "c2"], leaders


def counter(s):
    clients = [s.client() for _ in range(3)]

    def work(client):
        c = client.Counter(s.path, default=100)
        for _ in range(10):
            c += 1

    for task in [s.run(work, client) for client in clients]:
        task.wait()
    assert clients[0].Counter(s.path, default=100).value == 130


def barrier(s):
    a, b = s.client(), s.client()
    gate = a.Barrier(s.path)
    gate.create()
    assert not b.Barrier(s.path).wait(0.05)
    waiting = s.run(b.Barrier(s.path).wait, WAIT_LIMIT)
    time.sleep(0.02)
    assert gate.remove() and waiting.wait()


def double_barrier(s):
    clients = [s.client() for _ in range(3)]
    entered, left = [], []

    def work(client):
        b = client.DoubleBarrier(s.path, 3)
        b.enter()
        entered.append(1)
        b.leave()
        assert len(entered) == 3
        left.append(1)

    first = [s.run(work, client) for client in clients[:2]]
    eventually(
        lambda: clients[2].exists(s.path) and len(clients[2].get_children(s.path)) == 2,
        "two at the barrier",
    )
    assert not entered
    for task in first + [s.run(work, clients[2])]:
        task.wait()
    assert len(left) == 3


def party(s):
    a, b = s.client(), s.client()
    one, two = a.Party(s.path, "one"), b.ShallowParty(s.path + "-shallow", "two")
    one.join()
    two.join()
    assert list(b.Party(s.path)) == ["one"] and list(a.ShallowParty(s.path + "-shallow")) == ["two"]
    expire(a)
    eventually(lambda: len(b.Party(s.path)) == 0, "the end of the party")


def queue(s):
    a, b = s.client(), s.client()
    out, into = a.Queue(s.path), b.Queue(s.path)
    for i in range(5):
        into.put(b"%d" % i)
    into.put(b"urgent", priority=1)
    assert len(out) == 6 and [out.get() for _ in range(6)] == [b"urgent", b"0", b"1", b"2", b"3", b"4"]
    assert out.get() is None


def locking_queue(s):
    one, two, three = [s.client().LockingQueue(s.path) for _ in range(3)]
    one.put_all([b"x", b"y"])
    assert one.get(WAIT_LIMIT) == b"x" and one.holds_lock()
    assert two.get(WAIT_LIMIT) == b"y" and three.get(0.05) is None
    waiting = s.run(three.get, WAIT_LIMIT)
    assert one.consume() and two.consume()
    one.put(b"z")
    assert waiting.wait() == b"z"


def lease(s):
    import datetime
    a, b = s.client(), s.client()
    assert NonBlockingLease(a, s.path, datetime.timedelta(seconds=60), identifier="a")
    assert not NonBlockingLease(b, s.path, datetime.timedelta(seconds=60), identifier="b")


def transactions(s):
    a = s.client()
    a.ensure_path(s.path)
    t = a.transaction()
    t.create(s.path + "/x", b"1")
    t.check(s.path, 0)
    t.set_data(s.path + "/x", b"2")
    t.create(s.path + "/s-", sequence=True, ephemeral=True)
    t.delete(s.path + "/x")
    results = t.commit()
    assert results[0] == s.path + "/x" and results[1] is True and results[2].version == 1, results
    assert results[3] == s.path + "/s-0000000001" and results[4] is True, results
    t = TransactionRequest(a)
    t.create(s.path + "/y")
    t.delete(s.path + "/none")
    t.create(s.path + "/z")
    kinds = [type(r) for r in t.commit()]
    want = [exceptions.RolledBackError, exceptions.NoNodeError, exceptions.RuntimeInconsistency]
    assert kinds == want, kinds
    assert a.get_children(s.path) == ["s-0000000001"]


def auth(s):
    a, b = s.client(auth_data=[("digest", "joe:secret")]), s.client()
    private = security.make_digest_acl("joe", "secret", all=True)
    a.create(s.path, b"x", acl=[private])
    raises(exceptions.NoAuthError, b.get, s.path)
    raises(exceptions.NoAuthError, b.create, s.path + "/x")
    acls, _ = a.get_acls(s.path)
    assert acls == [private], acls
    a.set_acls(s.path, [security.CREATOR_ALL_ACL[0], security.READ_ACL_UNSAFE[0]])
    acls, stat = b.get_acls(s.path)
    assert stat.aversion == 1 and sorted(acl.id.id for acl in acls) == ["anyone", "joe:x"], acls
    b.add_auth("digest", "joe:secret")
    assert b.set(s.path, b"y").version == 1
    bad = [security.make_acl("nonsense", "x", all=True)]
    raises(exceptions.InvalidACLError, b.create, s.path + "/bad", acl=bad)
    raises(exceptions.AuthFailedError, s.client().add_auth, "nonsense", "x")


def session_loss(s):
    a, b = s.client(), s.client()
    a.ensure_path(s.path)
    before = a.client_id[0]
    a.create(s.path + "/e", ephemeral=True)
    data = []
    a.DataWatch(s.path, lambda d, stat: data.append(d))
    expire(a)
    eventually(lambda: a.connected and a.client_id[0] != before, "a new session")
    assert b.exists(s.path + "/e") is None
    b.set(s.path, b"after")
    eventually(lambda: data[-1] == b"after", "the watch that kazoo sets again")


def reconnection(s):
    a, b = s.client(), s.client()
    a.create(s.path, b"x", ephemeral=True)
    before, lost = a.client_id[0], []
    a.add_listener(lambda state: lost.append(state))
    a._connection._socket.shutdown(2)
    eventually(lambda: KazooState.CONNECTED in lost, "the reconnection")
    assert lost == [KazooState.SUSPENDED, KazooState.CONNECTED] and a.client_id[0] == before, lost
    assert b.exists(s.path).ephemeralOwner == before


def lock_of_a_lost_session(s):
    a, b = s.client(), s.client()
    held, waiting = a.Lock(s.path, "a"), b.Lock(s.path, "b")
    assert held.acquire()
    task = s.run(waiting.acquire)
    eventually(lambda: len(b.get_children(s.path)) == 2, "the waiter")
    expire(a)
    assert task.wait()


def large_data(s):
    a = s.client()
    a.create(s.path, b"x" * 1000000)
    assert len(a.get(s.path)[0]) == 1000000
    for i in range(2000):
        a.create_async(s.path + "/child-with-a-long-name-%d" % i)
    a.sync(s.path)
    assert len(a.get_children(s.path)) == 2000


SCENARIOS = [
    basics, chroot, commands, watches, data_and_children_watch, lock, read_write_lock, semaphore,
    election, counter, barrier, double_barrier, party, queue, locking_queue, lease, transactions,
    auth, session_loss, reconnection,
    lock_of_a_lost_session, large_data,
]


def main():
    for scenario in SCENARIOS:
        scene = Scene()
        try:
            scenario(scene)
            print("ok", scenario.__name__, flush=True)
        except Exception:
            text = " | ".join(traceback.format_exc().splitlines())
            print("error %s: %s" % (scenario.__name__, text), flush=True)
        finally:
            scene.close()
    print("end", flush=True)


if __name__ == "__main__":
    main()
