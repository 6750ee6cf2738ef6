"""Holds a lock again and again, and checks that no other process is inside.

usage: shared_lock.py ADDRESS PATH INSIDE TIMES
"""
import sys

from kazoo.client import KazooClient

address, path, inside, times = sys.argv[1:]
client = KazooClient(hosts=address)
client.start()
for i in range(int(times)):
    with client.Lock(path, "kazoo"):
        client.create(inside, b"kazoo", ephemeral=True)
        client.delete(inside)
    if i == 0:
        print("entered", flush=True)
client.stop()
