"""Follows a subtree with kazoo's TreeCache.

The arguments are the address of the server and the path of the root. After each
event there is a line with all nodes of the cache, as PATH=DATA, in order. The
process ends with its stdin. The test driver is cache_test.go.
"""

import sys

from kazoo.client import KazooClient
from kazoo.recipe.cache import TreeCache

ADDRESS, ROOT = sys.argv[1:]


def nodes(cache, path):
    data = cache.get_data(path)
    if data is not None:
        yield path + "=" + data.data.decode()
    for name in sorted(cache.get_children(path, ())):
        yield from nodes(cache, path + "/" + name)


client = KazooClient(ADDRESS, timeout=30)
client.start(60)
cache = TreeCache(client, ROOT)
cache.listen(lambda event: print(*nodes(cache, ROOT), flush=True))
cache.listen_fault(lambda error: print(error, file=sys.stderr))
cache.start()
sys.stdin.read()
cache.close()
client.stop()
client.close()
