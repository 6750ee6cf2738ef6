package wire

// CreateRequest is the body of create, create2, createContainer and createTTL.
type CreateRequest struct {
	Op    Op // the type of the request
	Path  string
	Data  []byte // aliases the frame
	ACL   []ACL
	Flags int32
	TTL   int64 // milliseconds; for createTTL only
}

// DecodeCreate reads the body of a request of type op.
func DecodeCreate(op Op, d *Decoder) CreateRequest {
	r := CreateRequest{Op: op}
	r.Path, r.Data, r.ACL, r.Flags = d.String(), d.Buffer(), d.ACLs(), d.Int32()
	if op == OpCreateTTL {
		r.TTL = d.Int64()
	}
	return r
}

// Sequential reports whether the server appends a number to the path.
func (r *CreateRequest) Sequential() bool {
	return r.Flags == FlagSequence || r.Flags == FlagEphemeralSequence || r.Flags == FlagTTLSequence
}

// Ephemeral reports whether the flags ask for an ephemeral node.
func (r *CreateRequest) Ephemeral() bool {
	return r.Flags == FlagEphemeral || r.Flags == FlagEphemeralSequence
}

// HasTTL reports whether the flags ask for a node with a TTL.
func (r *CreateRequest) HasTTL() bool {
	return r.Flags == FlagTTL || r.Flags == FlagTTLSequence
}
