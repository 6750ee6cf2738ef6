package wire

// These xids and flags have a fixed meaning.
const (
	XidNotification int32 = -1
	XidPing         int32 = -2

	FlagEphemeral         int32 = 1
	FlagSequence          int32 = 2
	FlagEphemeralSequence int32 = 3
	FlagContainer         int32 = 4
	FlagTTL               int32 = 5
	FlagTTLSequence       int32 = 6
	MaxFlags                    = FlagTTLSequence
)
