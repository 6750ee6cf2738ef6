"""Restarts the server and ends its own session by zkfake's remote control.

Usage: python3 remote.py SERVERS CONTROL_URL. Prints the states that kazoo goes
through, and whether the ephemeral node is there.
"""
import queue, sys, urllib.request
from kazoo.client import KazooClient

servers, control = sys.argv[1:]
def post(path):
    urllib.request.urlopen(urllib.request.Request(control + path, method="POST")).close()

zk, states = KazooClient(hosts=servers, timeout=30), queue.Queue()
zk.add_listener(states.put)
zk.start()
zk.create("/mine", b"", ephemeral=True)
states.get(timeout=20)
for action in "/restart", "/sessions/%#x/expire" % zk.client_id[0]:
    post(action)
    seen = [states.get(timeout=20)]
    while seen[-1] != "CONNECTED":
        seen.append(states.get(timeout=20))
    print(*seen)
    print("/mine", "is there" if zk.exists("/mine") else "is gone")
zk.stop()
