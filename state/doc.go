// Package state has the connection states of a ZooKeeper client, and policies that say
// which states end work that depends on the session. The package has no clock, no I/O and
// no goroutine.
//
// A client starts in [Initial] and then moves as shown. Every arrow is a transition that
// listeners receive.
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
// If the session changes, [Lost] always comes before [Reconnected], so that code which
// depends on the old session sees its end before the new session. A client enters
// [Connected] once: when it gets its first session, even if it was Suspended or Lost
// before.
//
// The states and their order are Curator's (ConnectionState,
// ConnectionStateManager).
package state
