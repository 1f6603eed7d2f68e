package lua

import (
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Name is the name of the script with a SHA-1 as EVALSHA takes it, for those who
// count round trips; empty for one that is not of this package.
func Name(sha1 string) string { return names()[sha1] }

var names = sync.OnceValue(func() map[string]string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // embedded: it is there
	}
	byHash := make(map[string]string, len(entries))
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".lua")
		if source, err := Source(name); err == nil {
			byHash[redis.NewScript(source).Hash()] = name
		}
	}
	return byHash
})
