//go:build schema2

package lua

import _ "embed"

// Schema is one more than the release's: a build with the tag schema2 is the release
// after it, for tests of the two beside each other.
const Schema = 2

//go:embed testdata/schemas.lua
var schemas []byte
