//go:build !schema2

package lua

// Schema is the newest schema of stored records that this build reads and can write. It
// reads those before it as well.
const Schema = 1

var layouts = []Layout{firstLayout}
