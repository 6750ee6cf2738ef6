package discovery

// Codec is the format of a registry: where the nodes of a service are, and what
// they contain. Codecs are safe for concurrent use, and hold no state.
type Codec interface {
	// Dir returns the path of a service's nodes below the base of the registry,
	// with a leading slash. The instances are the children of that path.
	Dir(service string) (string, error)

	// Service is the inverse of Dir: it returns the service whose nodes are
	// below a path. It reports false if that is no service's.
	Service(dir string) (string, bool)

	// Encode returns the name and the data of an instance's node. It returns an
	// error if the format, or one of its readers, cannot take the instance.
	Encode(i Instance) (name string, data []byte, err error)

	// Decode returns the instance that a node describes. The ID is name, whatever
	// the data say. An error means that the node is malformed.
	Decode(service, name string, data []byte) (Instance, error)
}
