//go:build !schema2

package lua

// Schema is the newest schema of stored records that this build reads and can write
// (schemas.lua). It reads those before it as well.
const Schema = 1

// schemas stands in for schemas.lua; nil: it speaks for itself.
var schemas []byte
