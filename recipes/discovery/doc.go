// Package discovery registers the instances of services, and finds them, as
// Curator's curator-x-discovery does. Java processes that use it, Spring Cloud
// or Dubbo can share a registry with Go processes.
//
//	r, err := discovery.NewRegistration(client, "/services", discovery.CuratorCodec(), discovery.Instance{
//		Service: "orders", Address: "10.0.0.7", Port: 8080,
//	})
//	if err != nil {
//		return err
//	}
//	defer r.Shutdown(ctx)
//
//	d, err := discovery.NewDirectory(client, "/services", discovery.CuratorCodec(), "orders")
//	if err != nil {
//		return err
//	}
//	defer d.Close()
//	if err := d.WaitInstances(ctx, 1); err != nil {
//		return err
//	}
//	for _, i := range d.Instances() {
//		fmt.Println(i.Address, i.Port)
//	}
//
// # Which one
//
//   - A [Registration] keeps an instance registered, through outages and losses
//     of the session. It can update it and drain it.
//   - A [Registrar] does the same for frameworks that call Register and Deregister.
//   - A [Directory] has the instances of a service, as of one transaction, and
//     tells of changes. With [NewServices], it has all services.
//   - A [Codec] is the format of a registry: [CuratorCodec], which also reads what
//     Spring and Dubbo write, [SpringCodec], [DubboCodec], [DubboInterfaceCodec],
//     [ServersetCodec], or your own.
//   - A [Picker] picks one of the instances that [Picker.Update] gives it, for each
//     request. The comment there shows how it follows a Directory.
//
// To find the instance that this process has registered, wait by
// [Registration.WaitRegistered] for its node, and by [Directory.WaitFor] for that
// node's Czxid.
//
// # To leave without a failed request
//
// An instance that is about to leave drains first: [Registration.Drain] writes
// into its node that it does not want to be picked. Its clients take others, and
// finish what they have begun. Shutdown deletes the node after that. A directory
// does not keep an instance that it has seen drain when its node goes.
//
// # What a directory shows in trouble
//
// A directory does not become empty because of an outage, nor because its path may
// not be read. It keeps what it has then, and [Snapshot.Interrupted] says that it
// may be old. An instance whose node cannot be read any more stays as it was, and
// [Snapshot.Bad] lists the node. An instance whose node vanishes stays for a second,
// as [WithRemovalGrace] says, because Java Curator's registrants delete their nodes and
// create them again after each interruption of their connection.
//
// # To see it
//
// Registrations, directories and what becomes of them are on the page of package
// debug/curatorz, in the metrics and spans of package tracing, and, for all
// processes, in a walk with inspect.WithServices and in zklock services. A [Picker]
// tells of instances that it takes out, if it has [WithDirectory].
//
// # Differences from Java Curator
//
//   - A node is created once in a session, and changed in place. Java deletes and
//     creates it on every reconnect, so that readers see a gap.
//   - A node is created again with its folder, if the server has removed that with
//     the last node in it. Java Curator 5.4 does not register again then.
//   - An ID that somebody else has is a conflict. Java takes the node over. A
//     permanent node says by its address and ports whose it is.
//   - A text or a boolean of a node must be one in JSON, except for labels. Java also
//     takes a number for a text, and a text for a boolean.
//   - A node that cannot be decoded is reported. In Java, it fails the query of
//     the whole service, or keeps its last good instance for ever.
//   - A directory needs no right to create, and makes no nodes.
//
// [GUARANTEES.md] lists what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package discovery
