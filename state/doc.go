// Package state has the connection states of a ZooKeeper client, and the
// policies that say which of them end work that relies on the session. It is
// pure: no clock, no I/O, no goroutine.
//
// A client starts in [Initial] and then moves as follows. Every arrow is a
// transition that listeners see.
//
//	Initial ──────────────► Connected            the first session ever
//	   │                        │
//	   │ cannot connect         │ connection lost
//	   ▼                        ▼
//	Suspended ◄─────────── Connected, Reconnected
//	   │    │                   ▲        │
//	   │    └── same session ───┘        │ the session is over while connected,
//	   │ session over                    │ or was replaced by another
//	   ▼                                 ▼
//	 Lost ◄──────────────────────────────┘
//	   │
//	   └── new session ──► Reconnected
//
// [Lost] always comes before [Reconnected] when the session changed, so that
// code which relied on the old session sees its end before it can see the new
// one. [Connected] is entered once in the life of a client: the first time it
// has a session, even if it was Suspended or Lost before.
//
// The states and their order are Curator's (ConnectionState,
// ConnectionStateManager).
package state
