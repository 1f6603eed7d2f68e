package auth

// The fixed keys of onejob dev (design §8). They are public: whoever can reach
// a process that takes them owns it, which is why CheckAddr keeps it on
// loopback.
const (
	DevKey         = "dev-key"          // owner dev, role submit
	OtherKey       = "other-key"        // owner other, role submit
	DevOperatorKey = "dev-operator-key" // owner dev-operator, role operator
)

// DevKeys makes the store take the fixed keys, too. Without it they are
// refused like any other word.
func DevKeys() Option {
	return func(k *Keys) {
		k.fixed[digest(DevKey)] = Identity{Owner: "dev", Role: Submit, KeyID: "fixed-dev"}
		k.fixed[digest(OtherKey)] = Identity{Owner: "other", Role: Submit, KeyID: "fixed-other"}
		k.fixed[digest(DevOperatorKey)] = Identity{Owner: "dev-operator", Role: Operator, KeyID: "fixed-dev-operator"}
	}
}
