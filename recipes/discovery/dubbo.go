package discovery

import "cmp"

// DubboCodec is Dubbo's format at the level of applications, which Dubbo 3 has.
// The service is the application. The base is /services, if Dubbo's registry has
// neither a root path nor a group.
//
// The name of a node is address:port, whatever the instance's ID. An instance
// needs both, has no TLS port, and cannot be Disabled. Metadata are Dubbo's, such as
// dubbo.metadata.revision and dubbo.endpoints. Payload is what Dubbo writes
// around them, and Encode makes it anew.
//
// Before a consumer in Java finds an interface, it needs the interface's mapping
// and the application's metadata. They are not written.
func DubboCodec() Codec { return dubbo{} }

type dubbo struct{ plainTree }

func (dubbo) Encode(i Instance) (_ string, _ []byte, err error) {
	if err := cmp.Or(checkPlain(i), checkID(i.HostPort())); err != nil {
		return "", nil, err
	}
	labels := i.Metadata
	if labels == nil {
		labels = map[string]string{} // Java's readers cannot take null
	}
	i.Payload, err = marshal(labelled{dubboClass, i.HostPort(), i.Service, labels})
	if err != nil {
		return "", nil, err
	}
	return encodeJava(i, i.HostPort())
}

func (dubbo) Decode(service, name string, data []byte) (Instance, error) {
	return decodeJava(service, name, data, "dubbo")
}
